// Frees the memory of constants with their last user.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/ResourceUses.h"

using namespace mlir;
using namespace convoy::cnn;

ResourceUses::ResourceUses(Operation *root) {
  root->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      add(attribute.getValue());
  });
}

void ResourceUses::add(Attribute value) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    ++counts[resource.getRawHandle().getResource()];
}

void ResourceUses::remove(Attribute value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource || --counts[resource.getRawHandle().getResource()] > 0)
    return;
  DialectResourceBlobManager::BlobEntry *entry = resource.getRawHandle().getResource();
  // Memory without a deleter is not ours, and nothing is gained by forgetting it.
  if (AsmResourceBlob *blob = entry->getBlob(); blob && blob->getDeleter())
    entry->setBlob(AsmResourceBlob());
}
