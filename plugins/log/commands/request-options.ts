import { type Command as Parser, InvalidArgumentError, Option } from 'commander';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { parseTime, resolveTime, type WrittenTime, zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import { type CommandContext, exampleText } from '#core/extension/commands/command.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { findModelName } from '#core/gateway/records/model-names.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';

/** Members of a filter that `--status` sets. */
export type StatusFilter = Pick<RequestFilter, 'status' | 'outcome' | 'errors'>;

export const usualSpanMs = 86_400_000;

export const outcomes = ['answered', 'refused', 'failed', 'aborted', 'interrupted'] as const;

/** `429`, `5xx`, how the request ended, or `error`. */
export function parseStatus(text: string): StatusFilter {
  if (text === 'error') return { errors: true };
  const outcome = outcomes.find((one) => one === text);
  if (outcome !== undefined) return { outcome };
  if (/^[1-5]xx$/i.test(text)) return { status: [Number(text[0]) * 100, Number(text[0]) * 100 + 99] };
  if (/^[1-5]\d\d$/.test(text)) return { status: [Number(text), Number(text)] };
  throw new InvalidArgumentError(`It must be a status such as 429 or 5xx, error, ${outcomes.join(', ')}.`);
}

/** Options that select requests, and say how they are printed. */
export function addSelectionOptions(parser: Parser): Parser {
  return parser
    .option('--account <account>', 'of this account: id, e-mail address, name, hint or key', parseLine)
    .option('--model <model>', 'of this model, whichever name the client used', parseLine)
    .option('--route <route>', 'served by this route, such as openai/gpt-6-sol', parseLine)
    .addOption(
      new Option(
        '--since <time>',
        'from this time on: 30m, 24h, 7d, 2026-11-22, "2026-11-22 20:00" or 2026-11-22T13:00Z',
      )
        .argParser(parseTime)
        .default({ ago: usualSpanMs }, '24h'),
    )
    .addOption(zoneOption());
}

/** Options common to commands that count or list requests. */
export interface SelectionOptions {
  readonly account?: string | undefined;
  readonly model?: string | undefined;
  readonly route?: string | undefined;
  readonly since: WrittenTime;
  readonly timeZone?: string;
  readonly json?: true;
}

/** How a command prints. */
export interface CommandOutput {
  print(line: string): void;
  readonly isJson: boolean;
  readonly timeZone: string;
}

export function outputOf({ print }: CommandContext, host: Host, options: SelectionOptions): CommandOutput {
  return { print, isJson: options.json === true, timeZone: zoneOf(host, options) };
}

/** The filter that selects these requests. @throws CheckoutError `not_found`, AccountError `not_found` or `ambiguous` */
export async function readSelection(host: Host, options: SelectionOptions) {
  const { account, model, route, since } = options;
  const { findAccountByHandle } = await import('#core/business/accounts/account-list.ts');
  return {
    accountId: account === undefined ? undefined : (await findAccountByHandle(host, account)).id,
    model: model === undefined ? undefined : await publicNameOf(host, model),
    route,
    since: await resolveTime(host, since, zoneOf(host, options)),
  };
}

/** A model of the catalog by any of its names, or a former one that has usage. @throws CheckoutError `not_found` */
async function publicNameOf(host: Host, name: string): Promise<string> {
  const known = await findModelName(host, name);
  if (known !== undefined) return known;
  const suggestion = host.catalog.suggest(name);
  const ask = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
  throw new CheckoutError('not_found', `Model "${name}" not found.${ask}`);
}

export const exitCodes = `

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 request, account or model not found.`;

/** The end of a help text. */
export const examples = (lines: readonly string[]): string => exampleText(lines, exitCodes);
