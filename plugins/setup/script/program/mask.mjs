// Masks secrets in the output of a dry run, masking too much rather than too little:
//   - the value after a name such as apiKey or password: the rest of its line, and the whole list, object, table or text that
//     starts there. Of a JSON string that members or brackets follow, only the string is masked, because settings may be on one line
//   - texts that look like keys: keys of this gateway, known prefixes such as sk- or ghp_, tokens after Bearer or Basic, passwords
//     in URLs, UUIDs, and runs of characters with 16 letters and digits in a row, or 40 letters
//   - private keys between their BEGIN and END, and the lines of a base64 text
// The address of this gateway and its models are not masked.

import { run } from './run.mjs';

const secretNames =
  /(key|token|secret|password|passwd|passphrase|pwd|credential|authorization|cookie)[a-z0-9_.-]*["']?[ \t]*[\],:= \t]/i;
const tripleQuotes = /"""|'''/;

/** Masks all lines of a file together, because a secret may continue on the lines below its name. */
export function maskLines(lines) {
  let continuation = '';
  let depth = 0;
  return lines.map((line) => {
    const indent = /^[ \t]*/.exec(line)[0];
    if (continuation === 'deeper' && /^\s*(#|$)/.test(line)) return maskKeys(line);
    if (continuesSecret[continuation]?.(line, indent.length, depth)) {
      const isEnd =
        continuation === 'next' ||
        (continuation === 'key' && line.includes('-----END ')) ||
        (continuation === 'quotes' && tripleQuotes.test(line));
      if (isEnd) continuation = '';
      return line.trim() === '' ? line : `${indent}***`;
    }
    const masked = maskNamed(line);
    continuation = masked.below;
    depth = indent.length;
    return masked.text;
  });
}

export function maskSecrets(line) {
  return maskNamed(line).text;
}

const continuesSecret = {
  // Whether a line continues the secret, by kind; `depth` is the indentation of the secret's name.
  key: () => true,
  quotes: () => true,
  next: () => true,
  table: (line) => !/^\s*\[/.test(line),
  bracket: (line, indent, depth) => !/^\s*[\]})]/.test(line) || indent > depth,
  deeper: (line, indent, depth) => indent > depth || (indent >= depth && /^\s*- /.test(line)),
  base64: (line) => /^[\s"']*[A-Za-z0-9+/=_-]+[\s"',\\]*$/.test(line),
};

function maskNamed(line) {
  if (line.includes('-----BEGIN ')) {
    return { text: line.replace(/-----BEGIN .*/, '-----BEGIN ***'), below: line.includes('-----END ') ? '' : 'key' };
  }
  let [text, shown] = [line, ''];
  for (;;) {
    const match = secretNames.exec(text);
    if (!match) break;
    const end = match.index + match[0].length;
    const value = text
      .slice(end)
      .replace(/^[\] \t:=,]*/, '')
      .trimEnd();
    // A limit, such as max_tokens.
    if (/okens["']?[ \t]*[:=]$/.test(match[0]) && /^[0-9_]+([\],} \t]|$)/.test(value)) {
      shown += text.slice(0, end);
      text = text.slice(end);
      continue;
    }
    let continuation = findContinuation(match[0], value, line);
    if (continuation && continuation !== 'quotes') return { text: maskKeys(shown + text), below: continuation };
    shown += `${text.slice(0, end)} ***`;
    const string = /^"(?:[^"\\]|\\.)*"(?=[\]} \t]*(?:,[ \t]*["{/]|,?$))/.exec(value);
    if (string) {
      text = value.slice(string[0].length);
      continue;
    }
    if (!continuation && /[[{(]$/.test(value)) continuation = 'bracket';
    return { text: maskKeys(shown) + (value.endsWith(',') ? ',' : ''), below: continuation };
  }
  text = maskKeys(shown + text);
  return { text, below: text !== line && continuesSecret.base64(line) ? 'base64' : '' };
}

function findContinuation(name, value, line) {
  if (value === '\\' || (value === '' && name.endsWith(','))) return 'next';
  if (value === '' && name.endsWith(']')) return /^\s*\[/.test(line) ? 'table' : '';
  if (/^([|>][0-9+-]*)?$/.test(value)) return 'deeper';
  if (/^[[{(]$/.test(value)) return 'bracket';
  return /^("""|''')/.test(value) && !/^...*("""|''')$/.test(value) ? 'quotes' : '';
}

export function maskKeys(line) {
  const { keyPrefix, baseUrl } = run.data;
  const text = line
    .replace(new RegExp(`${keyPrefix}[-_][A-Za-z0-9_-]+`, 'g'), `${keyPrefix}-***`)
    .replace(/sk-[A-Za-z0-9_-]+/g, 'sk-***')
    .replace(/:\/\/[^/@\s"']*:[^@\s"']*@/g, '://***@')
    .replace(/(?<=([Bb]earer|BEARER|[Bb]asic|BASIC)[ \t]+)[^\s"']*([0-9=]|[a-z][A-Z])[^\s"']*/g, '***');
  return text.split(baseUrl).map(maskRuns).join(baseUrl);
}

function maskRuns(text) {
  const { keyPrefix } = run.data;
  const letters = 'A-Za-z0-9_+/.~%-';
  const prefixes = '[spr]k[-_]|xox[abeoprs]-|xapp-|glpat-|github_pat_|gh[opsur]_|hf_|ya29\\.|SG\\.|A[KS]IA|AIza|eyJ';
  const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
  const random = `(?!${keyPrefix}/)[${letters}]*?(?<![A-Za-z0-9])([A-Za-z0-9]{40}|(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16})`;
  const pattern = `(?<![${letters}])((${prefixes})[${letters}]{8,}|${uuid}(?![${letters}])|${random}[${letters}]*)=*`;
  return text.replace(new RegExp(pattern, 'g'), '***');
}
