// Precompiled headers that all oracles include. Each source file still includes the headers that it needs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/common/text.h"
#include "grader/judge/lab/explain.h"
#include "grader/judge/lab/oracle.h"
#include "grader/judge/lab/show.h"
#include "grader/model/recipe.h"
