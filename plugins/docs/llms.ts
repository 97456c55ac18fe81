import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { Service } from '#core/gateway/host/host.ts';
import type { SampleTab } from '#core/web/pages/code-samples.ts';
import { formatSetupCommand } from '#core/web/pages/setup-command.ts';
import { type DescribedApi, type DescribedHeader, filterHeaders } from './describe-api.ts';

interface LlmsContent {
  readonly samples: readonly SampleTab[];
  readonly hasSetup: boolean;
  readonly isSelling: boolean;
}

/** Format: https://llmstxt.org */
export function renderLlmsText(
  api: DescribedApi,
  { name, baseUrl }: Service,
  { listed }: Pick<Catalog, 'listed'>,
  { samples, hasSetup, isSelling }: LlmsContent,
): string {
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['Base URLs', api.addresses.map(({ clients, url }) => `- ${clients}: ${url}`)],
    ...(hasSetup ? [['Set up coding tools', renderSetupLines(baseUrl)] as const] : []),
    ['Models', listed.map(({ name: model }) => `- ${model}`)],
    ['Endpoints', api.endpoints.map(({ endpoint, path, summary }) => `- ${endpoint.method} ${path}: ${summary}`)],
    ['Request headers', renderHeaderLines(api, 'request')],
    ['Response headers', renderHeaderLines(api, 'response')],
    ['Limits', api.limits.map((limit) => `- ${limit}`)],
    // Shows the codes of OpenAI's formats, which most clients use.
    ['Errors', api.errors.map(({ status, words, text }) => `- ${status} ${words.openai}: ${text}`)],
    ['Examples', samples.flatMap(({ name: title, code }) => [`### ${title}`, '', '```', code, '```', ''])],
    ['More', [`- [OpenAPI](${baseUrl}/openapi.json)`, `- [Documentation](${baseUrl}/docs)`]],
  ];
  const head = [
    `# ${name}`,
    '',
    `> One API key for every model, in the formats of OpenAI, Anthropic and Google.${isSelling ? ' Access is paid for by the day.' : ''}`,
    '',
  ];
  return [...head, ...sections.flatMap(([title, lines]) => [`## ${title}`, '', ...lines, ''])].join('\n');
}

function renderSetupLines(baseUrl: string): string[] {
  return [
    `- Linux, macOS: \`${formatSetupCommand('posix', baseUrl)}\``,
    `- Windows PowerShell: \`${formatSetupCommand('powershell', baseUrl)}\``,
    '- The script asks for the key on the terminal; `--dry-run` shows what it would change, `--undo` reverts it.',
  ];
}

function renderHeaderLines(api: DescribedApi, side: DescribedHeader['in']): string[] {
  return filterHeaders(api, side).map(({ name, example, text }) => `- \`${name}: ${example}\`: ${text}`);
}
