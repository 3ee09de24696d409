# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the exported networks must count, to the parameter, and in multiply-accumulates as far as
# the sources give digits.

# Name: (parameters, giga multiply-accumulates, half a unit of its last digit, source).
PUBLISHED = {
    "resnet18": (11_689_512, 1.81, 0.005, "torchvision ResNet18_Weights"),
    "mobilenetv2": (3_504_872, 0.30, 0.005, "torchvision MobileNet_V2_Weights"),
    "mobilenetv3_large": (5_483_032, 0.22, 0.005, "torchvision MobileNet_V3_Large_Weights"),
    "efficientnet_b0": (5_288_548, 0.39, 0.005, "torchvision EfficientNet_B0_Weights"),
    "regnet_y_400mf": (4_344_144, 0.40, 0.005, "torchvision RegNet_Y_400MF_Weights"),
    "convnext_tiny": (28_589_128, 4.46, 0.005, "torchvision ConvNeXt_Tiny_Weights"),
    "yolov8n": (3_157_200, 4.35, 0.025, "Ultralytics: 8.7 GFLOPs of two operations each"),
    "unet": (7_763_041, None, None, "PyTorch Hub, unet"),
}
