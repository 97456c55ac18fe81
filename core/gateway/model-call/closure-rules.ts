import type { ReportedError } from './upstream-error.ts';

type ClosedPart = 'key' | 'account';

/** A documented way in which a vendor reports that a key or account is closed. */
export interface ClosureRule {
  readonly vendor: string;
  readonly presets: readonly string[];
  readonly part: ClosedPart;
  readonly codes?: ReadonlySet<string>;
  readonly reasons?: ReadonlySet<string>; // in Google's `ErrorInfo`
  /** Must match the complete message, because messages may contain names chosen by the client, even at the start. */
  readonly messagePattern?: RegExp;
  readonly source: string; // URL of the vendor's documentation
  readonly readOn: string; // date
}

/**
 * Vendors' messages and codes for a closed key, which only the vendor can reopen. Invalid keys, unpaid bills and used-up credit are not
 * included, because those keys only cool down.
 */
export const closureRules: readonly ClosureRule[] = [
  {
    vendor: 'OpenAI',
    presets: ['openai'],
    part: 'account',
    codes: new Set(['account_deactivated']),
    source: 'https://help.openai.com/en/articles/10562188-why-was-my-openai-account-deactivated',
    readOn: '2026-11-29',
  },
  {
    vendor: 'Anthropic',
    presets: ['anthropic'],
    part: 'account',
    messagePattern: /^This organization has been disabled\.?$/,
    source: 'https://code.claude.com/docs/en/errors',
    readOn: '2026-11-29',
  },
  {
    vendor: 'Google',
    presets: ['gemini', 'gemini-openai', 'vertex', 'vertex-anthropic'],
    part: 'account',
    reasons: new Set(['CONSUMER_SUSPENDED', 'GCP_SUSPENDED']),
    source: 'https://cloud.google.com/dotnet/docs/reference/Google.Api.CommonProtos/latest/Google.Api.ErrorReason',
    readOn: '2026-11-29',
  },
  {
    vendor: 'Google',
    presets: ['gemini', 'gemini-openai'],
    part: 'key',
    messagePattern: /^Your API key was reported as leaked\.(?: Please use another API key\.)?$/,
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting',
    readOn: '2026-11-29',
  },
  {
    // 1110: not active; 1111: does not exist; 1112: locked until support unlocks it; 1121: locked for a violation. Sent with 401 or 429.
    vendor: 'Z.AI',
    presets: ['zhipu', 'zhipu-anthropic'],
    part: 'account',
    codes: new Set(['1110', '1111', '1112', '1121']),
    source: 'https://docs.z.ai/api-reference/api-code',
    readOn: '2026-11-29',
  },
];

/** Returns undefined for other errors, such as an unexplained 401. */
export function findClosureRule(
  { code, message = '', reason }: Pick<ReportedError, 'code' | 'message' | 'reason'>,
  preset: string | undefined,
): ClosureRule | undefined {
  if (preset === undefined) return undefined;
  return closureRules.find(
    ({ presets, codes, reasons, messagePattern }) =>
      presets.includes(preset) &&
      ((code !== undefined && codes?.has(code) === true) ||
        (reason !== undefined && reasons?.has(reason) === true) ||
        messagePattern?.test(message.trim()) === true),
  );
}
