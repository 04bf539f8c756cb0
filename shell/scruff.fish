# scruff for fish. In ~/.config/fish/config.fish:
#     scruff init fish | source
# A key is changed by SCRUFF_KEY_<ACTION> before that line, in bind's spelling; an empty one binds
# nothing.

# Runs an action on the terminal as programs expect it, then has the prompt drawn again.
function __scruff_key
    set -l modes (command stty -g </dev/tty)
    printf '\n'
    command stty icanon echo icrnl </dev/tty
    switch $argv[1]
        case pick
            command scruff pick
        case new
            command scruff open --ask
        case beside
            command scruff open --pane right
        case close
            command scruff close
        case overview
            command scruff list
    end
    command stty $modes </dev/tty
    # Programs turn it off when they end.
    printf '\e[?2004h'
    commandline -f repaint
end

# Action and default key. In vi mode only a key that was asked for is bound.
function __scruff_bind
    set -l name SCRUFF_KEY_(string upper -- $argv[1])
    set -l key $argv[2]
    if set -q $name
        set key $$name
    else if test "$fish_key_bindings" = fish_vi_key_bindings
        return
    end
    test -n "$key"; or return 0
    bind $key "__scruff_key $argv[1]"
    if set -q $name
        bind -M insert $key "__scruff_key $argv[1]"
    end
end

if status is-interactive
    __scruff_bind pick \ej
    __scruff_bind new \ei
    __scruff_bind beside ''
    __scruff_bind close ''
    __scruff_bind overview ''
end

function scd --description 'Change into a lane\'s checkout'
    set -l dir (command scruff __path -- $argv)
    or return
    cd $dir
end
