// Headers that all oracles include, compiled once for all of them. Each source still includes its headers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/common/text.h"
#include "grader/judge/lab/explain.h"
#include "grader/judge/lab/oracle.h"
#include "grader/judge/lab/show.h"
#include "grader/model/recipe.h"
