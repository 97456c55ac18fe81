import { codePieces } from '#core/web/pages/code-pieces.ts';
import { pythonSample, type SampledSdk } from '#core/web/pages/sdk-samples.ts';

/** How a tool is pointed at this gateway: the lines to change, and those around them. */
export interface LandingSample {
  readonly id: string;
  readonly name: string;
  write(baseUrl: string, model: string): string;
  /** What Copy takes; without it, all of the sample. */
  value?(baseUrl: string): string;
}

function ofSdk(id: SampledSdk, name: string): LandingSample {
  const write = (baseUrl: string, model: string) => {
    const { title, install, code } = pythonSample(id, { baseUrl, model });
    return `# ${title}: ${install}\n${code}`;
  };
  return { id, name, write };
}

const samples: readonly LandingSample[] = [
  ofSdk('openai', 'OpenAI'),
  ofSdk('anthropic', 'Anthropic'),
  ofSdk('gemini', 'Gemini'),
  {
    id: 'claude-code',
    name: 'Claude Code',
    write: (baseUrl, model) => `export ANTHROPIC_BASE_URL="${baseUrl}"
export ANTHROPIC_AUTH_TOKEN="YOUR_KEY"
claude --model "${model}"`,
  },
];

/** Samples of SDKs, which come before the command that sets up tools. */
const ofSdks = 3;

/**
 * Values of the part `code`.
 *
 * @param chosen id of the sample to show; the first for an unknown id
 * @param command the sample that sets up tools; undefined where no plugin serves the script
 */
export function describeSamples(
  chosen: string | undefined,
  { baseUrl, model, label }: { readonly baseUrl: string; readonly model: string; readonly label: string },
  command: LandingSample | undefined,
) {
  const listed = command === undefined ? samples : samples.toSpliced(ofSdks, 0, command);
  const current = listed.find(({ id }) => id === chosen) ?? (listed[0] as LandingSample);
  return {
    id: 'sample',
    label,
    tabs: listed.map(({ id, name }) => ({
      id,
      label: name,
      path: `/?sample=${id}#connect`,
      isCurrent: id === current.id,
    })),
    pieces: codePieces(current.write(baseUrl, model)),
    value: current.value?.(baseUrl),
  };
}
