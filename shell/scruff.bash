# scruff for bash 4 and newer. At the end of ~/.bashrc:
#     eval "$(scruff init bash)"
# A key is changed by SCRUFF_KEY_<ACTION> before that line, in readline's spelling; an empty one
# binds nothing.

# Runs an action on the terminal as programs expect it, then gives it back to the line editor.
__scruff_key() {
    local modes
    modes=$(\command stty -g </dev/tty) || return 0
    \command stty icanon echo icrnl </dev/tty
    case $1 in
        pick) \command scruff pick </dev/tty ;;
        new) \command scruff open --ask </dev/tty ;;
        beside) \command scruff open --pane right </dev/tty ;;
        close) \command scruff close </dev/tty ;;
        overview) \command scruff list </dev/tty ;;
    esac || :
    \command stty "$modes" </dev/tty
    # Programs turn it off when they end.
    printf '\e[?2004h' >/dev/tty
}

# Action, default key, and the key that was asked for, if one was. In vi mode only that one is bound.
__scruff_bind() {
    local key=${3-$2}
    if [[ -z $key ]]; then return 0; fi
    bind -m emacs -x "\"$key\": __scruff_key $1" 2>/dev/null || :
    if [[ -n ${3-} ]]; then bind -m vi-insert -x "\"$key\": __scruff_key $1" 2>/dev/null || :; fi
}

if [[ $- == *i* ]] && ((BASH_VERSINFO[0] >= 4)); then
    __scruff_bind pick '\ej' ${SCRUFF_KEY_PICK+"$SCRUFF_KEY_PICK"}
    __scruff_bind new '\ei' ${SCRUFF_KEY_NEW+"$SCRUFF_KEY_NEW"}
    __scruff_bind beside '' ${SCRUFF_KEY_BESIDE+"$SCRUFF_KEY_BESIDE"}
    __scruff_bind close '' ${SCRUFF_KEY_CLOSE+"$SCRUFF_KEY_CLOSE"}
    __scruff_bind overview '' ${SCRUFF_KEY_OVERVIEW+"$SCRUFF_KEY_OVERVIEW"}
fi

# Changes into a lane's checkout.
scd() {
    local dir
    dir=$(\command scruff __path -- "$@") || return
    \builtin cd -- "$dir"
}
