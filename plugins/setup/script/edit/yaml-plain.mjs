// Plain scalars of YAML: texts without quotes.

/** Plain texts that some version of YAML does not take for a string. */
const special = [
  /^(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[yYnN]|=|<<)$/,
  /^[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/,
  /^[-+]?0[xob][0-9a-fA-F_]+$/,
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/,
  /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/,
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$/,
];

/** Without spaces and tabs at its end. An expression would try every run of them. */
export function trimEnd(text) {
  let end = text.length;
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return text.slice(0, end);
}

/** Whether a text cannot be a plain scalar, by its beginning. */
export function cannotBePlain(text) {
  return /^(?:[-?:](?:[ \t]|$)|[,[\]{}#&*!|>'"%@`])/.test(text);
}

/** The value of a plain scalar in one line. */
export function plainValue(text) {
  if (/^(?:|~|null|Null|NULL)$/.test(text)) return 'null';
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) return text.toLowerCase();
  if (/^-?(?:0|[1-9][0-9]*)$/.test(text)) return `i${text}`;
  return special.some((pattern) => pattern.test(text)) ? `p${text}` : `s${JSON.stringify(text)}`;
}
