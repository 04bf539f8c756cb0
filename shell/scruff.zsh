# scruff for zsh. At the end of ~/.zshrc, after compinit:
#     eval "$(scruff init zsh)"
# A key is changed by SCRUFF_KEY_<ACTION> before that line, in bindkey's spelling; an empty one
# binds nothing.

# Runs the action of the widget on the terminal as programs expect it, then gives it back to the
# line editor.
__scruff_key() {
    emulate -L zsh
    local modes
    modes=$(command stty -g </dev/tty) || return 0
    zle -I
    command stty icanon echo icrnl </dev/tty
    case ${WIDGET#scruff-} in
        pick) command scruff pick ;;
        new) command scruff open --ask ;;
        beside) command scruff open --pane right ;;
        close) command scruff close ;;
        overview) command scruff list ;;
    esac </dev/tty
    command stty $modes </dev/tty
    # Programs turn it off when they end.
    print -rn -- ${zle_bracketed_paste[1]-} >/dev/tty
    return 0
}

# Action, default key, and the key that was asked for, if one was. In vi mode only that one is bound.
__scruff_bind() {
    emulate -L zsh
    local key=${3-$2}
    zle -N scruff-$1 __scruff_key
    if [[ -n $key ]]; then bindkey -M emacs -- $key scruff-$1; fi
    if [[ -n ${3-} ]]; then bindkey -M viins -- $key scruff-$1; fi
}

if [[ -o interactive && -o zle ]]; then
    __scruff_bind pick '^[j' ${SCRUFF_KEY_PICK+"$SCRUFF_KEY_PICK"}
    __scruff_bind new '^[i' ${SCRUFF_KEY_NEW+"$SCRUFF_KEY_NEW"}
    __scruff_bind beside '' ${SCRUFF_KEY_BESIDE+"$SCRUFF_KEY_BESIDE"}
    __scruff_bind close '' ${SCRUFF_KEY_CLOSE+"$SCRUFF_KEY_CLOSE"}
    __scruff_bind overview '' ${SCRUFF_KEY_OVERVIEW+"$SCRUFF_KEY_OVERVIEW"}
fi

# Changes into a lane's checkout.
scd() {
    emulate -L zsh
    local dir
    dir=$(command scruff __path -- "$@") || return
    builtin cd -- $dir
}
