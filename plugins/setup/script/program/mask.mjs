// Hides secrets in what a dry run shows: too much rather than too little. Hidden are
//   - what follows a name such as apiKey or password: on its line, and all of a list, object, table or text that begins there.
//     A string of JSON that other members or brackets follow is hidden alone: settings may be one line
//   - what looks like a key: of this gateway, with a known start such as sk- or ghp_, after Bearer or Basic, in a URL before
//     its @, a UUID, and each run of characters with 16 letters and digits in a row, or 40 letters
//   - private keys between their BEGIN and END, and the lines of a base64 text
// Not hidden are the address of this gateway and its models.
import { run } from './run.mjs';

const names =
  /(key|token|secret|password|passwd|passphrase|pwd|credential|authorization|cookie)[a-z0-9_.-]*["']?[ \t]*[\],:= \t]/i;
const quotes = /"""|'''/;

/** The lines of a file without secrets. The meaning of a line depends on the lines above it, which a difference may not show. */
export function hideLines(lines) {
  let below = '';
  let depth = 0;
  return lines.map((line) => {
    const indent = /^[ \t]*/.exec(line)[0];
    if (below === 'deeper' && /^\s*(#|$)/.test(line)) return hideKeys(line);
    if (belongs[below]?.(line, indent.length, depth)) {
      const isEnd =
        below === 'next' ||
        (below === 'key' && line.includes('-----END ')) ||
        (below === 'quotes' && quotes.test(line));
      if (isEnd) below = '';
      return line.trim() === '' ? line : `${indent}***`;
    }
    const hidden = hideNamed(line);
    below = hidden.below;
    depth = indent.length;
    return hidden.text;
  });
}

export function hideSecrets(line) {
  return hideNamed(line).text;
}

/** Whether a line belongs to a secret that begins above it, at the indentation `depth`, by the kind of the secret. */
const belongs = {
  key: () => true,
  quotes: () => true,
  next: () => true,
  table: (line) => !/^\s*\[/.test(line),
  bracket: (line, indent, depth) => !/^\s*[\]})]/.test(line) || indent > depth,
  deeper: (line, indent, depth) => indent > depth || (indent >= depth && /^\s*- /.test(line)),
  base64: (line) => /^[\s"']*[A-Za-z0-9+/=_-]+[\s"',\\]*$/.test(line),
};

/** Hides values after the names of secrets. `below` says how the value continues in the lines below. */
function hideNamed(line) {
  if (line.includes('-----BEGIN ')) {
    return { text: line.replace(/-----BEGIN .*/, '-----BEGIN ***'), below: line.includes('-----END ') ? '' : 'key' };
  }
  let [text, shown] = [line, ''];
  for (;;) {
    const found = names.exec(text);
    if (!found) break;
    const end = found.index + found[0].length;
    const rest = text
      .slice(end)
      .replace(/^[\] \t:=,]*/, '')
      .trimEnd();
    // A limit, such as max_tokens.
    if (/okens["']?[ \t]*[:=]$/.test(found[0]) && /^[0-9_]+([\],} \t]|$)/.test(rest)) {
      shown += text.slice(0, end);
      text = text.slice(end);
      continue;
    }
    let below = belowOf(found[0], rest, line);
    if (below && below !== 'quotes') return { text: hideKeys(shown + text), below };
    shown += `${text.slice(0, end)} ***`;
    const string = /^"(?:[^"\\]|\\.)*"(?=[\]} \t]*(?:,[ \t]*["{/]|,?$))/.exec(rest);
    if (string) {
      text = rest.slice(string[0].length);
      continue;
    }
    if (!below && /[[{(]$/.test(rest)) below = 'bracket';
    return { text: hideKeys(shown) + (rest.endsWith(',') ? ',' : ''), below };
  }
  text = hideKeys(shown + text);
  return { text, below: text !== line && belongs.base64(line) ? 'base64' : '' };
}

/** How the value of a secret continues below the line, of which `rest` follows its name; or ''. */
function belowOf(name, rest, line) {
  if (rest === '\\' || (rest === '' && name.endsWith(','))) return 'next';
  if (rest === '' && name.endsWith(']')) return /^\s*\[/.test(line) ? 'table' : '';
  if (/^([|>][0-9+-]*)?$/.test(rest)) return 'deeper';
  if (/^[[{(]$/.test(rest)) return 'bracket';
  return /^("""|''')/.test(rest) && !/^...*("""|''')$/.test(rest) ? 'quotes' : '';
}

/** Hides what is a key by its looks. */
export function hideKeys(line) {
  const { keyPrefix, baseUrl } = run.data;
  const text = line
    .replace(new RegExp(`${keyPrefix}[-_][A-Za-z0-9_-]+`, 'g'), `${keyPrefix}-***`)
    .replace(/sk-[A-Za-z0-9_-]+/g, 'sk-***')
    .replace(/:\/\/[^/@\s"']*:[^@\s"']*@/g, '://***@')
    .replace(/(?<=([Bb]earer|BEARER|[Bb]asic|BASIC)[ \t]+)[^\s"']*([0-9=]|[a-z][A-Z])[^\s"']*/g, '***');
  return text.split(baseUrl).map(hideRuns).join(baseUrl);
}

function hideRuns(text) {
  const { keyPrefix } = run.data;
  const letters = 'A-Za-z0-9_+/.~%-';
  const known = '[spr]k[-_]|xox[abeoprs]-|xapp-|glpat-|github_pat_|gh[opsur]_|hf_|ya29\\.|SG\\.|A[KS]IA|AIza|eyJ';
  const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
  const random = `(?!${keyPrefix}/)[${letters}]*?(?<![A-Za-z0-9])([A-Za-z0-9]{40}|(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16})`;
  const pattern = `(?<![${letters}])((${known})[${letters}]{8,}|${uuid}(?![${letters}])|${random}[${letters}]*)=*`;
  return text.replace(new RegExp(pattern, 'g'), '***');
}
