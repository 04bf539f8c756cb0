#!/bin/sh
# scruff.tmux: keys for scruff's lanes, a status segment and a badge for window titles.
# tmux 3.2 or newer. Run it from the configuration, as a TPM plugin or as
#     run-shell 'scruff init tmux | sh'
#
# Options, all set before it runs:
#     @scruff-bin            the program, where it is not found by itself
#     @scruff-key-<action>   a key after the prefix; '-n KEY' for one without; '' for none
#
# Running it again is harmless: what it bound before is taken back first, where it is still there.

# Action   Key  What it does
actions='
pick       S    pick a lane, with a live preview
new        N    new lane, after asking for its task
beside     V    new lane beside this pane
close      P    park this lane: work saved, pane ended, branch kept
overview   G    look at all lanes
'

missing='scruff __key: the program is not where tmux looks; put it on PATH or set @scruff-bin, then reload'
notes=
bound=

note() {
    notes="$notes$1
"
}

# Prints the value of a global option; fails where it is not set. An empty one is set.
option() {
    [ -n "$(tmux show-options -gq "$1")" ] && tmux show-options -gqv "$1"
}

program() {
    if option @scruff-bin; then return; fi
    PATH=$PATH:$HOME/.local/bin:$HOME/.cargo/bin:/usr/local/bin:/opt/homebrew/bin:$HOME/.nix-profile/bin
    command -v scruff
}

too_old() {
    set -- "$(tmux display-message -p '#{version}')"
    set -- "${1#next-}"
    case $1 in
    [012].* | 3.[01] | 3.[01][!0-9]*) return 0 ;;
    *) return 1 ;;
    esac
}

# The commands that scruff's keys run. The pane and the client are those of whoever presses.
command_of() {
    printf '%s' "exec #{q:@scruff_program} __key $1 --pane-id=#{q:pane_id} --client=#{q:client_name}"
}

# A word as tmux must get it: a `;` at its end would end the command.
word() {
    case $1 in
    *\;) printf '%s' "${1%;}\\;" ;;
    *) printf '%s' "$1" ;;
    esac
}

# Sets table and key from the value of an option.
place() {
    table=prefix
    key=$1
    case $key in
    '-n '*)
        table=root
        key=${key#-n }
        ;;
    esac
    key=$(word "$key")
}

take_back() {
    option @scruff_bound | while IFS= read -r line; do
        place "$line"
        case $(tmux list-keys -T "$table" "$key" 2>/dev/null) in
        *__key*) tmux unbind-key -q -T "$table" "$key" ;;
        esac
    done
}

bind_key() {
    if key=$(option "@scruff-key-$1"); then chosen=yes; else chosen=""; key=$2; fi
    [ -n "$key" ] || return 0
    asked=$key
    place "$key"
    if [ -z "$chosen" ] && tmux list-keys -T "$table" "$key" >/dev/null 2>&1; then
        note "$1 has no key: $key is bound to something else; choose one with @scruff-key-$1"
        return 0
    fi
    if [ -n "$found" ]; then
        set -- "$3" run-shell -b "$(command_of "$1")"
    else
        set -- "$3" display-message "$missing"
    fi
    about=$1
    shift
    if tmux bind-key -N "scruff: $about" -T "$table" "$key" "$@" 2>/dev/null; then
        bound="$bound$asked
"
    else
        note "tmux knows no key $asked"
    fi
}

bind_all() {
    while read -r action default about; do
        [ -z "$action" ] || bind_key "$action" "$default" "$about"
    done <<END
$actions
END
}

# Puts the segment where a status line asks for it by #{scruff_status}.
fill_in() {
    before=$(tmux show-options -gqv "$1")
    after=
    rest=$before
    while :; do
        case $rest in
        *'#{scruff_status}'*) ;;
        *) break ;;
        esac
        after="$after${rest%%'#{scruff_status}'*}#{E:@scruff_status}"
        rest=${rest#*'#{scruff_status}'}
    done
    [ -z "$after" ] || tmux set-option -g "$1" "$(word "$after$rest")"
}

# What the panes of a window do, the most urgent only.
badge() {
    states='#{P:#{@scruff_state} }'
    done="#{?#{m:*done*,$states},#[fg=green]+#[default],}"
    working="#{?#{m:*working*,$states},#[fg=cyan]~#[default],$done}"
    printf '%s' "#{?#{m:*waiting*,$states},#[fg=yellow]!#[default],$working}"
}

if [ -z "${TMUX-}" ]; then
    echo 'scruff.tmux: run this inside tmux, such as by run-shell in its configuration' >&2
    exit 1
fi
if too_old; then
    echo 'scruff.tmux: tmux 3.2 or newer is needed' >&2
    exit 1
fi
found=$(program)
[ -x "$found" ] || found=
take_back
tmux set-option -g @scruff_program "$(word "${found:-scruff}")" \; \
    set-option -g @scruff_status '#(#{q:@scruff_program} status --format tmux)' \; \
    set-option -g @scruff_badge "$(badge)"
bind_all
fill_in status-left
fill_in status-right
[ -n "$found" ] || note "$missing"
tmux set-option -g @scruff_bound "$bound" \; set-option -g @scruff_notes "$notes"
