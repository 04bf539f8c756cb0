#compdef scruff scd
# Completion for scruff in zsh: scruff itself is asked, so lanes are live.

_scruff() {
    local line value
    local -a asked ended open
    case ${service:-scruff} in
        scd) asked=(scruff __path) ;;
        *) asked=(scruff "${(@Q)words[2,CURRENT-1]}") ;;
    esac
    for line in "${(@f)$(command scruff __complete -- "${asked[@]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        value=${${line%%$'\t'*}//:/\\:}
        if [[ -z $value ]]; then continue; fi
        if [[ $line == *$'\t'?* ]]; then line=$value:${line#*$'\t'}; else line=$value; fi
        if [[ $value == *[/=] ]]; then open+=("$line"); else ended+=("$line"); fi
    done
    local found=1
    if (( $#ended )); then _describe -V scruff ended && found=0; fi
    if (( $#open )); then _describe -V scruff open -S '' && found=0; fi
    return $found
}

if [[ ${zsh_eval_context[-1]-} == loadautofunc ]]; then
    _scruff "$@"
elif (( ${+functions[compdef]} )); then
    compdef _scruff scruff scd
fi
