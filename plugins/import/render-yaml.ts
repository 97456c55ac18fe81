import {
  type ImportDraft,
  type DraftModel,
  type DraftRoute,
  type DraftUpstream,
  servicePrefix,
  type UnmappedSetting,
  Reference,
} from './draft.ts';

export function renderYaml(draft: ImportDraft, from: string, file: string): string {
  return [
    `# Imported from ${from} (${toOneLine(file)}). \`daypass check\` validates it and prints what would run.`,
    ...renderComment('Set these variables, in .env next to this file or in the environment:', renderVariables(draft)),
    ...renderComment('Not imported:', renderUnmapped(draft.unmapped)),
    '',
    'service:',
    '  name: Daypass                                  # shown to users',
    `  prefix: ${servicePrefix}                                     # of API keys and of models' names; clients may leave it out`,
    '  base_url: ${BASE_URL:-}                        # public URL, such as https://ai.example.com',
    '',
    'listen:',
    '  host: ${HOST:-127.0.0.1}',
    '  port: ${PORT:-8080}',
    '',
    'pipeline:',
    '  - auth',
    '  - plan',
    '  - rate-limit: { limit: 60, period: 60, burst: 20, concurrent: 8 }  # each key; not imported',
    '  - format',
    '  - upstream',
    '  - log',
    '',
    ...renderSection('upstreams', [...draft.upstreams.values()].flatMap(renderUpstream)),
    '',
    ...renderSection('models', [...draft.models.values()].flatMap(renderModel)),
    '',
    ...renderSection(
      'aliases',
      [...draft.aliases].map(([alias, model]) => `  ${quoteText(alias)}: ${renderValue(model)}`),
    ),
  ].join('\n');
}

export function renderVariables({ variables }: ImportDraft): string[] {
  return Array.from(variables.values(), ({ name, from }) => `${name}  (${toOneLine(from)})`);
}

const maxShownPaths = 3;

export function renderUnmapped(unmapped: readonly UnmappedSetting[]): string[] {
  const byReason = Map.groupBy(unmapped, ({ reason }) => reason);
  return Array.from(byReason, ([reason, settings]) => {
    const paths = settings.slice(0, maxShownPaths).map(({ path }) => toOneLine(path));
    const omittedText = settings.length > maxShownPaths ? ` and ${settings.length - maxShownPaths} more` : '';
    return `${paths.join(', ')}${omittedText}: ${toOneLine(reason)}`;
  });
}

function renderComment(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['#', `# ${title}`, ...lines.map((line) => `#   ${line}`)];
}

function renderSection(name: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [`${name}: {}`] : [`${name}:`, ...lines];
}

function renderUpstream(upstream: DraftUpstream): string[] {
  const { name, vendor, formats, baseUrl, auth, keys, headers, credentials, capacity, from } = upstream;
  const members = {
    vendor,
    format: formats?.length === 1 ? formats[0] : formats,
    base_url: baseUrl,
    auth,
    api_keys: keys.length === 0 ? undefined : keys,
    credentials,
    headers,
    capacity,
  };
  return [`  # ${toOneLine(from)}`, `  ${quoteText(name)}: ${renderValue(members)}`];
}

function renderModel({ name, routes, kind, maxInputTokens, maxTokens }: DraftModel): string[] {
  const members = { kind, max_input_tokens: maxInputTokens, max_tokens: maxTokens };
  const settings = Object.entries(members).filter(([, value]) => value !== undefined);
  return [
    `  ${quoteText(name)}:`,
    ...settings.map(([key, value]) => `    ${key}: ${renderValue(value)}`),
    '    routes:',
    ...sortRoutes(routes).map((route) => `      - ${renderValue(route)}`),
  ];
}

function sortRoutes(routes: readonly DraftRoute[]): unknown[] {
  const sorted = routes.toSorted((first, second) => first.priority - second.priority);
  const ranks = [...new Set(sorted.map(({ priority }) => priority))];
  // The order of the list implies these priorities.
  const isOrdered = ranks.length === sorted.length;
  const isWeighted = new Set(sorted.map(({ weight = 1 }) => weight)).size > 1;
  return sorted.map(({ upstream, model, priority, weight = 1, maxInputTokens }) => {
    const to = `${upstream}/${model}`;
    const rank = isOrdered ? undefined : ranks.indexOf(priority);
    const share = isWeighted ? weight : undefined;
    if (rank === undefined && share === undefined && maxInputTokens === undefined) return to;
    return { to, priority: rank, weight: share, max_input_tokens: maxInputTokens };
  });
}

function renderValue(value: unknown): string {
  if (value instanceof Reference) return `"${value.text}"`;
  if (Array.isArray(value)) return `[${value.map(renderValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{ ${members.map(([name, member]) => `${quoteText(name)}: ${renderValue(member)}`).join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  // Escapes `${`, which is plain text in the imported file. The replacement is a function, because `$$` in a string stands for `$`.
  return quoteText(value.replaceAll('${', () => '$${'));
}

function quoteText(text: string): string {
  // `${` is not escaped, because names in gateway.yaml cannot contain variables.
  return canStayUnquoted(text)
    ? text
    : JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escapeCharacter);
}

/** JSON allows these characters, YAML does not. */
function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function canStayUnquoted(text: string): boolean {
  const isWord = /^[A-Za-z][\w./-]*$|^https?:\/\/[\w./:-]*[\w/]$/.test(text);
  // Some versions of YAML read these words as other values.
  return isWord && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
}

function toOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200);
}
