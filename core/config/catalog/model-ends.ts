/* Days on which vendors stop serving models, as published. Models that are not listed have no published end, or ended long ago. */

interface Source {
  readonly presets: readonly string[]; // presets whose upstreams these days apply to; clouds and resellers have different ones
  readonly page: string; // page on which the vendor publishes these days
  readonly comparedOn: string; // day on which the list was last compared with that page
  readonly ends: Readonly<Record<string, readonly string[]>>; // models, by the first day (UTC) without them; a name includes snapshots
  readonly successors: Readonly<Record<string, string>>; // successors that the vendor recommends, for some of the models
}

export const endSources: readonly Source[] = [
  {
    presets: ['anthropic'],
    // A test compares this list with `internal/data/deprecated-models` of @anthropic-ai/sdk.
    page: 'https://platform.claude.com/docs/en/about-claude/model-deprecations',
    comparedOn: '2026-11-28',
    ends: {
      '2025-10-28': ['claude-3-5-sonnet'],
      '2026-01-05': ['claude-3-opus'],
      '2026-02-19': ['claude-3-7-sonnet'],
      '2026-06-15': ['claude-sonnet-4', 'claude-sonnet-4-0', 'claude-opus-4', 'claude-opus-4-0'],
      '2026-06-30': ['claude-mythos-preview'],
      '2026-08-05': ['claude-opus-4-1'],
      '2026-11-30': ['claude-sonnet-4-5'],
      '2027-01-22': ['claude-opus-4-5'],
    },
    successors: { 'claude-sonnet-4': 'claude-sonnet-4-6', 'claude-opus-4': 'claude-opus-4-8' },
  },
  {
    presets: ['openai'],
    page: 'https://developers.openai.com/api/docs/deprecations',
    comparedOn: '2026-11-28',
    ends: {
      '2026-07-23': ['gpt-5-chat-latest', 'gpt-5-codex', 'gpt-5.1-codex', 'gpt-5.1-codex-max', 'gpt-5.1-codex-mini'],
      '2026-08-10': ['gpt-5.2-chat-latest', 'gpt-5.3-chat-latest'],
      '2026-10-23': [
        'gpt-3.5-turbo',
        'gpt-4',
        'gpt-4-turbo',
        'gpt-4.1-nano',
        'o1',
        'o1-pro',
        'o3-mini',
        'o4-mini',
        'gpt-image-1',
      ],
      '2026-12-01': ['gpt-image-1-mini', 'gpt-image-1.5', 'chatgpt-image-latest'],
      '2026-12-11': ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5-pro', 'o3', 'o3-pro'],
      '2027-01-06': ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'],
      '2027-01-14': ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini'],
      '2027-01-20': ['gpt-realtime', 'gpt-realtime-mini', 'gpt-audio', 'gpt-4o-realtime', 'gpt-4o-audio'],
      '2027-02-26': ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe-diarize'],
      '2027-04-01': ['gpt-5.1', 'gpt-5.3-codex', 'gpt-5.4-nano'],
    },
    successors: {
      'gpt-5': 'gpt-6.1-sol',
      'gpt-5-mini': 'gpt-6.1-terra',
      'gpt-4o': 'gpt-6-luna',
      'gpt-4o-mini': 'gpt-6-luna',
      'gpt-4.1': 'gpt-6-luna',
      'gpt-4.1-mini': 'gpt-6-luna',
    },
  },
  {
    presets: ['gemini', 'gemini-openai'],
    page: 'https://ai.google.dev/gemini-api/docs/deprecations',
    comparedOn: '2026-11-28',
    ends: {
      '2026-01-14': ['text-embedding-004'],
      '2026-03-09': ['gemini-3-pro-preview'],
      '2026-06-01': ['gemini-2.0-flash', 'gemini-2.0-flash-001', 'gemini-2.0-flash-lite', 'gemini-2.0-flash-lite-001'],
      '2026-06-25': ['gemini-3.1-flash-image-preview', 'gemini-3-pro-image-preview'],
      '2026-12-01': ['gemini-2.5-pro', 'gemini-2.5-flash'],
      '2027-05-07': ['gemini-3.1-flash-lite'],
    },
    successors: { 'gemini-2.5-pro': 'gemini-3.8-flash', 'gemini-2.5-flash': 'gemini-3.5-flash-lite' },
  },
];

/** The first day (UTC) without each model, as `2026-11-30`, and the page that states it. */
export const modelEnds: ReadonlyMap<string, { readonly day: string; readonly page: string }> = new Map(
  endSources.flatMap(({ page, ends }) =>
    Object.entries(ends).flatMap(([day, models]) => models.map((model) => [model, { day, page }] as const)),
  ),
);

interface ModelEnd {
  readonly day: string; // the first day (UTC) without the model
  readonly page: string;
  readonly successor: string | undefined;
}

const dateSuffix = /-\d{4}-\d\d-\d\d$|-\d{8}$/;
const normalizeName = (name: string) => name.replace(dateSuffix, '').replaceAll('.', '-');

/** @param model the vendor's name for the model */
export function findModelEnd(model: string, preset: string | undefined): ModelEnd | undefined {
  if (preset === undefined) return undefined;
  const normalizedName = normalizeName(model);
  for (const { presets, page, ends, successors } of endSources) {
    if (!presets.includes(preset)) continue;
    for (const [day, names] of Object.entries(ends)) {
      const name = names.find((listed) => normalizeName(listed) === normalizedName);
      if (name !== undefined) return { day, page, successor: successors[name] };
    }
  }
  return undefined;
}
