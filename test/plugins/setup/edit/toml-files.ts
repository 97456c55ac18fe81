import fc from 'fast-check';
import { parse } from 'smol-toml';

/** TOML files in every style that the format has, with the tables that Codex writes. */
const keys = [
  'model',
  'model_provider',
  'model_context_window',
  'approval_policy',
  'notify',
  'name',
  'base_url',
  'env_key',
  '"quoted key"',
  "'literal.key'",
  '"model\\u005fx"',
  'sandbox.mode',
  'shell . "in herit"',
  'model_providers.a.name',
  '1234',
];

const values = [
  '"gpt-5.1-codex"',
  '"m"',
  "'C:\\Users\\x'",
  '"esc \\" \\\\ # [no]"',
  '"""\n[tui]\nmodel = "no"\n"""',
  '"""one \\\n   two""\\""""',
  "'''\n[[no]] # no\n'''",
  "''''two quotes'' '''''",
  '[]',
  '["a", "b"]',
  '[\n  "a", # ]\n\n  # model = "no"\n  "b",\n]',
  '[[1, 2], ["x", { y = 1 }]]',
  '{}',
  '{ x = 1, "y.z" = [2], p.q = "r" }',
  '128000',
  '1_000',
  '-17',
  '0xFF',
  '1.5e3',
  '-inf',
  'true',
  'false',
  '1979-05-27T07:32:00Z',
  '1979-05-27 07:32:00.5',
  '1979-05-27',
  '07:32:00',
];

const headers = [
  '[tui]',
  '[ tui . keys ]',
  '[projects."/home/u/a b"]',
  "[projects.'C:\\x']",
  '[model_providers]',
  '[model_providers.dp]',
  '["model_providers".\'dp\']',
  '[model_providers.dp.http_headers]',
  '[model_providers.other]',
  '[mcp_servers.x.env]',
  '[[hooks]]',
  '[[hooks.inner]]',
  '[hooks.table]',
  '[[model_providers]]',
  '[history]',
];

const trivia = ['', '', '  ', '\t', '# comment', '  # [table] = "x"', '#:schema https://x', '# é漢😀'];
const spaces = fc.constantFrom('', ' ', ' ', '  ', '\t');
const indent = fc.constantFrom('', '', '', '  ', '\t');
const behind = fc.constantFrom('', '', '', ' # behind', '  ', '#x');

const pair = fc
  .tuple(indent, fc.constantFrom(...keys), spaces, spaces, fc.constantFrom(...values), behind)
  .map(([before, key, left, right, value, after]) => `${before}${key}${left}=${right}${value}${after}`);
const header = fc.tuple(indent, fc.constantFrom(...headers), behind).map((parts) => parts.join(''));
const line = fc.oneof(
  { weight: 4, arbitrary: pair },
  { weight: 2, arbitrary: header },
  { weight: 2, arbitrary: fc.constantFrom(...trivia) },
);

/** Lines that leave the file valid; the others are dropped. */
function keepValid(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (const one of lines) {
    if (isToml([...kept, one].join('\n'))) kept.push(one);
  }
  return kept;
}

export function isToml(text: string): boolean {
  try {
    parse(text.replace('\ufeff', ''));
    return true;
  } catch {
    return false;
  }
}

export const tomlFiles = fc
  .tuple(
    fc.array(line, { maxLength: 25 }).map(keepValid),
    fc.constantFrom('\n', '\n', '\r\n'),
    fc.constantFrom('', '', '', '\ufeff'),
    fc.boolean(),
  )
  .map(([lines, lineEnd, mark, isEnded]) => {
    const text = lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : '');
    return mark + text.replaceAll('\n', lineEnd);
  });

const ours = fc.constantFrom('"m"', '"dp/demo"', '128000', 'true', '"it\'s \\"é\\""', '[ "a", "b" ]');

/** Settings as the setup script writes them: keys of the root, then tables. */
export const wantedToml = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom('model', 'model_provider', 'model_context_window'), { maxLength: 3 }),
    fc.uniqueArray(fc.constantFrom('[model_providers.dp]', '[features]', '[tui]'), { maxLength: 2 }),
    fc.uniqueArray(fc.constantFrom('name', 'base_url', 'wire_api', '"quoted key"'), { minLength: 1, maxLength: 4 }),
    fc.array(ours, { minLength: 4, maxLength: 4 }),
  )
  .filter(([root, tables]) => root.length + tables.length > 0)
  .map(([root, tables, names, texts]) => {
    const lines = (those: string[]) => those.map((key, index) => `${key} = ${texts[index] ?? '1'}\n`).join('');
    return [lines(root), ...tables.map((one) => `${one}\n${lines(names)}`)].filter((part) => part !== '').join('\n');
  });
