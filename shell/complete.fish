# Completion for scruff in fish: scruff itself is asked, so lanes are live.

function __scruff_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    if test "$before[1]" = scd
        set before scruff __path
    end
    command scruff __complete -- $before "$current" 2>/dev/null
end

complete -c scruff -f -a '(__scruff_complete)'
complete -c scd -f -a '(__scruff_complete)'
