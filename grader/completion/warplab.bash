# Completion for bash: type  source grader/completion/warplab.bash  or put that line, with the whole path, into ~/.bashrc.
# It completes ./warplab and, in folders with a Warplab Makefile, make.

_warplab() {
    local program=${COMP_WORDS[0]} line=${COMP_LINE:0:COMP_POINT} current words
    [[ $program != make ]] || program=$(_warplab_of_make)
    if [[ ! -x $program ]]; then
        declare -F _make >/dev/null && _make "$@"
        return
    fi
    current=${line##*[[:blank:]]}
    read -ra words <<<"${line%"$current"}"
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --complete "${words[@]}")" -- "$current")
    # bash treats the = as a separate word.
    [[ $current != *=* || $COMP_WORDBREAKS != *=* ]] || COMPREPLY=("${COMPREPLY[@]#"${current%%=*}="}")
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}

_warplab_of_make() {
    local program
    for program in ./warplab ../../warplab; do
        [[ -x $program && -e Makefile ]] && echo "$program" && return
    done
}

complete -o bashdefault -o default -F _warplab warplab make
