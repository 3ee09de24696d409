// What the command line's lists of shapes mean, and which are refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Profiles.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace convoy;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr int64_t kFree = mlir::ShapedType::kDynamic;

std::vector<std::string> namesOf(const std::vector<ShapeProfile> &profiles) {
  std::vector<std::string> names;
  for (const ShapeProfile &profile : profiles)
    names.push_back(profile.name);
  return names;
}

class ProfilesTest : public testing::Test {
protected:
  void shape(const char *text) { ASSERT_EQ(list.addShape(text), "") << text; }
  void profile(const char *name) { ASSERT_EQ(list.addProfile(name), "") << name; }
  void finish() { ASSERT_EQ(list.list(profiles), ""); }

  ProfileList list;
  std::vector<ShapeProfile> profiles;
};

TEST_F(ProfilesTest, NothingIsOneProfileWithoutShapes) {
  finish();
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles[0].name, "");
  EXPECT_TRUE(profiles[0].shapes.empty());
}

TEST_F(ProfilesTest, OneShapeOfEachInputIsOneProfileWithoutName) {
  shape("a=?x3x4");
  shape("scope/in:0=");
  shape("c=Nx7");
  finish();
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles[0].name, "");
  EXPECT_THAT(profiles[0].shapes["a"], ElementsAre(kFree, 3, 4));
  EXPECT_THAT(profiles[0].shapes["scope/in:0"], ElementsAre());
  EXPECT_THAT(profiles[0].shapes["c"], ElementsAre(kFree, 7));
}

TEST_F(ProfilesTest, ListsAndRangesAreEveryCombination) {
  shape("x=1x3x224:288:32x{64,96}");
  shape("mask=1x1");
  finish();
  EXPECT_THAT(namesOf(profiles),
              ElementsAre("1x3x224x64", "1x3x224x96", "1x3x256x64", "1x3x256x96", "1x3x288x64",
                          "1x3x288x96"));
  EXPECT_THAT(profiles[3].shapes["x"], ElementsAre(1, 3, 256, 96));
  EXPECT_THAT(profiles[3].shapes["mask"], ElementsAre(1, 1));
}

TEST_F(ProfilesTest, SeveralShapesOfOneInput) {
  shape("x=1,?x8");
  shape("x=1x9");
  finish();
  EXPECT_THAT(namesOf(profiles), ElementsAre("1x8", "?x8", "1x9"));
  EXPECT_THAT(profiles[1].shapes["x"], ElementsAre(kFree, 8));
}

TEST_F(ProfilesTest, NamesTellInputsApartWhereSeveralVary) {
  shape("x=1x2");
  shape("x=1x3");
  shape("y=4,5");
  finish();
  EXPECT_THAT(namesOf(profiles),
              ElementsAre("x=1x2,y=4", "x=1x2,y=5", "x=1x3,y=4", "x=1x3,y=5"));
}

TEST_F(ProfilesTest, NamedProfilesAddToWhatIsCommon) {
  shape("mask=1x1");
  shape("x=1x3x8x8");
  profile("small");
  profile("large");
  shape("x=1x3x64x64");
  shape("mask=2x2");
  profile("wide");
  shape("x=1x3x8x16:32:8");
  finish();
  EXPECT_THAT(namesOf(profiles),
              ElementsAre("small", "large", "wide/1x3x8x16", "wide/1x3x8x24", "wide/1x3x8x32"));
  EXPECT_THAT(profiles[0].shapes["x"], ElementsAre(1, 3, 8, 8));
  EXPECT_THAT(profiles[0].shapes["mask"], ElementsAre(1, 1));
  EXPECT_THAT(profiles[1].shapes["x"], ElementsAre(1, 3, 64, 64));
  EXPECT_THAT(profiles[1].shapes["mask"], ElementsAre(2, 2));
  EXPECT_THAT(profiles[4].shapes["mask"], ElementsAre(1, 1));
}

// The step after the last extent would overflow.
TEST_F(ProfilesTest, RangeToTheLargestNumber) {
  shape("x=1x1:9223372036854775807:9223372036854775806");
  finish();
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_THAT(profiles[0].shapes["x"], ElementsAre(1, 1));
  EXPECT_THAT(profiles[1].shapes["x"], ElementsAre(1, INT64_MAX));
}

TEST_F(ProfilesTest, WrongTexts) {
  for (const char *text :
       {"", "x", "=1x2", "x=1x?", "x=1xx2", "x=-1", "x=1x2y", "x=99999999999999999999", "x=1x2,",
        "x=1x2:3", "x=1x2:3:0", "x=1x5:3:1", "x=1x2:5:2", "x=1x2:?:1", "x=1x2:3:1:1", "x=1x{2",
        "x=1x3,3"})
    EXPECT_NE(list.addShape(text), "") << text;
  EXPECT_THAT(list.addShape("x=1x224:300:32"), HasSubstr("does not lead from 224 to 300"));
  EXPECT_NE(list.addProfile(""), "");
  profile("a");
  EXPECT_THAT(list.addProfile("a"), HasSubstr("two profiles 'a'"));
}

TEST_F(ProfilesTest, EqualShapesAreRefused) {
  shape("x=1x2");
  EXPECT_THAT(list.addShape("x=1x2"), HasSubstr("twice"));
  profile("a");
  profile("b");
  EXPECT_THAT(list.list(profiles), HasSubstr("'a' and 'b' have the same shapes"));
}

TEST_F(ProfilesTest, TheirNumberIsBounded) {
  EXPECT_THAT(list.addShape("x=1x1:100000000000:1"), HasSubstr("more than 64"));
  EXPECT_THAT(list.addShape("x=1:9:1x1:9:1"), HasSubstr("more than 64"));
  shape("x=1:8:1x1:8:1");
  finish();
  EXPECT_EQ(profiles.size(), ProfileList::kMostProfiles);
  shape("y=1,2");
  EXPECT_THAT(list.list(profiles), HasSubstr("more than 64"));
}

} // namespace
