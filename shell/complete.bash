# Completion for scruff in bash 4 and newer: scruff itself is asked, so lanes are live.

# Completes the words given, the last of which is being typed. Its last part, which readline
# replaces, is in __scruff_part.
__scruff_candidates() {
    local typed=${!#} value quoted about
    local glued=${typed%"$__scruff_part"}
    COMPREPLY=()
    while IFS=$'\t' read -r value about; do
        case $typed in
            # Inside quotes only what means nothing to a shell is safe.
            *[\'\"]*) if [[ $value == *[!A-Za-z0-9_./@%+,=-]* ]]; then continue; fi ;;
        esac
        value=${value#"$glued"}
        printf -v quoted %q "$value"
        COMPREPLY+=("$quoted")
    done < <(\command scruff __complete -- "$@" 2>/dev/null)
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[/=] ]]; then compopt -o nospace; fi
}

# Sets __scruff_words to the words before the cursor. Readline splits a@b and --flag=value, too;
# what stands together is one word.
__scruff_split() {
    local rest=${COMP_LINE:0:COMP_POINT} blank word i
    __scruff_words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${rest%%[![:space:]]*}
        rest=${rest#"$blank"}
        word=${COMP_WORDS[i]}
        if ((i == COMP_CWORD)); then word=$rest; fi
        rest=${rest#"$word"}
        if [[ -z $blank ]] && ((i > 0)); then
            __scruff_words[${#__scruff_words[@]} - 1]+=$word
        else
            __scruff_words+=("$word")
        fi
    done
}

_scruff() {
    local __scruff_part=$2 __scruff_words
    __scruff_split
    __scruff_candidates "${__scruff_words[@]//[\\\'\"]/}"
}

_scruff_scd() {
    local __scruff_part=$2 __scruff_words
    __scruff_split
    __scruff_candidates scruff __path "${__scruff_words[@]:1}"
}

complete -F _scruff scruff
complete -F _scruff_scd scd
