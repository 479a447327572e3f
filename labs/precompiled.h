// What all oracles include, compiled once for all of them. A source still includes what it uses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/core/recipe.h"
#include "grader/core/text.h"
#include "grader/judge/oracle.h"
#include "grader/judge/show.h"
