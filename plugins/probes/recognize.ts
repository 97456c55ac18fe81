import { stringify } from 'yaml';
import type { Vendor } from '#core/config/catalog/catalog.ts';
import { type JsonObject, parseObject, listObjects } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { readResponseText } from '#core/platform/response-text.ts';

interface RecognizedServer {
  readonly baseUrl: string;
  readonly vendor: string; // name of the preset
  readonly models: readonly string[];
}

/**
 * Presets by the `owned_by` of a server's models. The values were observed, except Ollama's, which is from its source (docs/upstreams.md).
 */
const presetsByOwner: ReadonlyMap<unknown, string> = new Map([
  ['vllm', 'vllm'],
  ['llamacpp', 'llama-cpp'],
  ['infinity', 'infinity'],
  ['lmdeploy', 'lmdeploy'],
  ['library', 'ollama'],
]);
const timeoutMs = 10_000;
const maxListBytes = 8_388_608;

export async function recognizeServer(url: string, key: string): Promise<RecognizedServer | undefined> {
  const trimmedUrl = url.replace(/\/+$/, '');
  const baseUrls = /\/v\d\w*$/.test(trimmedUrl) ? [trimmedUrl] : [`${trimmedUrl}/v1`, trimmedUrl];
  for (const baseUrl of baseUrls) {
    const entries = await readModels(baseUrl, key);
    const vendor = presetsByOwner.get(entries[0]?.['owned_by']);
    if (vendor === undefined) continue;
    return { baseUrl, vendor, models: entries.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])) };
  }
  return undefined;
}

async function readModels(baseUrl: string, key: string): Promise<JsonObject[]> {
  try {
    const response = await outgoingFetch(`${baseUrl}/models`, {
      headers: { accept: 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }) },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return [];
    }
    return listObjects(parseObject(await readResponseText(response.body, maxListBytes))?.['data']);
  } catch {
    return [];
  }
}

export function describeServer({ baseUrl, vendor, models }: RecognizedServer, preset: Vendor): string[] {
  const { title, formats, capabilities, quirks } = preset;
  const presetYaml = stringify({ ...(capabilities && { capabilities }), ...(quirks && { quirks }) });
  const presetLines = capabilities === undefined && quirks === undefined ? [] : presetYaml.trimEnd().split('\n');
  return [
    `# ${title}, identified by its list of models. No other request was sent; --ask sends some.`,
    `# Its preset has the formats ${formats.join(', ')}${presetLines.length === 0 ? ' and no quirks.' : ', and:'}`,
    ...presetLines.map((line) => `#   ${line}`),
    ...stringify({ upstreams: { [vendor]: { vendor, base_url: baseUrl } } })
      .trimEnd()
      .split('\n'),
    ...(models.length === 0 ? [] : [`# Its models: ${models.slice(0, 5).join(', ')}${models.length > 5 ? ', …' : ''}`]),
  ];
}
