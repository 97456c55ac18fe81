import type { ReportedError } from './upstream-error.ts';

/** What a vendor has closed: one key, or the account with all its keys. */
type ClosedPart = 'key' | 'account';

/** One way in which a vendor says that a key or account is closed, as it documents it. */
export interface Closing {
  /** The name of the vendor, for people. */
  readonly vendor: string;
  /** Presets of the upstreams for which it counts. */
  readonly presets: readonly string[];
  readonly part: ClosedPart;
  readonly codes?: ReadonlySet<string>;
  /** Reasons of Google's `ErrorInfo`. */
  readonly reasons?: ReadonlySet<string>;
  /** Of the whole message: vendors repeat names of the client's, also at its beginning. */
  readonly words?: RegExp;
  /** The vendor's page that says so. */
  readonly source: string;
  /** Day on which it was read. */
  readonly seen: string;
}

/**
 * Words and codes by which vendors say that waiting changes nothing, and only they open it again. An invalid key, an unpaid bill and
 * a spent credit are not among them: they cool down.
 */
export const closings: readonly Closing[] = [
  {
    vendor: 'OpenAI',
    presets: ['openai'],
    part: 'account',
    codes: new Set(['account_deactivated']),
    source: 'https://help.openai.com/en/articles/10562188-why-was-my-openai-account-deactivated',
    seen: '2026-11-29',
  },
  {
    vendor: 'Anthropic',
    presets: ['anthropic'],
    part: 'account',
    words: /^This organization has been disabled\.?$/,
    source: 'https://code.claude.com/docs/en/errors',
    seen: '2026-11-29',
  },
  {
    vendor: 'Google',
    presets: ['gemini', 'gemini-openai', 'vertex', 'vertex-anthropic'],
    part: 'account',
    reasons: new Set(['CONSUMER_SUSPENDED', 'GCP_SUSPENDED']),
    source: 'https://cloud.google.com/dotnet/docs/reference/Google.Api.CommonProtos/latest/Google.Api.ErrorReason',
    seen: '2026-11-29',
  },
  {
    vendor: 'Google',
    presets: ['gemini', 'gemini-openai'],
    part: 'key',
    words: /^Your API key was reported as leaked\.(?: Please use another API key\.)?$/,
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting',
    seen: '2026-11-29',
  },
  {
    // 1110: not active; 1111: does not exist; 1112: locked, support unlocks it; 1121: locked for a violation. Sent with 401 or 429.
    vendor: 'Z.AI',
    presets: ['zhipu', 'zhipu-anthropic'],
    part: 'account',
    codes: new Set(['1110', '1111', '1112', '1121']),
    source: 'https://docs.z.ai/api-reference/api-code',
    seen: '2026-11-29',
  },
];

/**
 * The closing that an error reports; undefined for any other, such as an unexplained 401.
 *
 * @param preset name of the upstream's preset
 */
export function closingOf(
  { code, message = '', reason }: Pick<ReportedError, 'code' | 'message' | 'reason'>,
  preset: string | undefined,
): Closing | undefined {
  if (preset === undefined) return undefined;
  return closings.find(
    ({ presets, codes, reasons, words }) =>
      presets.includes(preset) &&
      ((code !== undefined && codes?.has(code) === true) ||
        (reason !== undefined && reasons?.has(reason) === true) ||
        words?.test(message.trim()) === true),
  );
}
