# Completion for fish: type  source grader/completion/warplab.fish  or put that line, with the whole path, into
# ~/.config/fish/config.fish. It completes ./warplab and, in folders with a Warplab Makefile, make.

function __warplab_program
    set -l words (commandline -opc)
    if test "$words[1]" != make
        echo $words[1]
        return 0
    end
    for program in ./warplab ../../warplab
        if test -x $program -a -e Makefile
            echo $program
            return 0
        end
    end
    return 1
end

function __warplab_words
    set -l program (__warplab_program); or return
    $program --complete (commandline -opc)
end

complete -c warplab -f -a '(__warplab_words)'
complete -c make -n '__warplab_program >/dev/null' -f -a '(__warplab_words)'
