import type { JsonValue } from '#core/platform/json.ts';
import type { Citation, Fragment } from '../../../canonical/reply.ts';
import { asList, member } from '../../../wire/members.ts';
import type {
  GeminiCandidate,
  GeminiCitation,
  GeminiCitations,
  GeminiGrounding,
  GeminiGroundingChunk,
  GeminiGroundingSource,
  GeminiGroundingSupport,
  GeminiSegment,
} from '../../../wire/gemini.ts';

/**
 * Reads the sources of an answer, found by a search or quoted. Google's positions are bytes of a part, so the quoted
 * words are searched in the text instead.
 *
 * Source: Gemini API reference, "GroundingMetadata", "CitationMetadata".
 */
export function readCitations(candidate: GeminiCandidate, text: string): Fragment[] {
  const grounding = candidate.groundingMetadata;
  const chunks = asList(member<GeminiGrounding>(grounding, 'groundingChunks'));
  const supports = asList(member<GeminiGrounding>(grounding, 'groundingSupports'));
  const supported = supports.flatMap((support) => readSupport(support, chunks, text));
  const found = supports.length > 0 ? supported : chunks.flatMap((chunk) => cite(sourceOf(chunk), undefined, text));
  const repeated = asList(member<GeminiCitations>(candidate.citationMetadata, 'citationSources')).flatMap((source) =>
    cite(
      { uri: member<GeminiCitation>(source, 'uri'), title: member<GeminiCitation>(source, 'title') },
      undefined,
      text,
    ),
  );
  return [...found, ...repeated];
}

interface Source {
  readonly uri: JsonValue | undefined;
  readonly title: JsonValue | undefined;
}

function readSupport(support: JsonValue, chunks: readonly JsonValue[], text: string): Fragment[] {
  const words = textOf(member<GeminiSegment>(member<GeminiGroundingSupport>(support, 'segment'), 'text'));
  return asList(member<GeminiGroundingSupport>(support, 'groundingChunkIndices')).flatMap((index) =>
    typeof index === 'number' ? cite(sourceOf(chunks[index]), words, text) : [],
  );
}

function sourceOf(chunk: JsonValue | undefined): Source {
  const source =
    member<GeminiGroundingChunk>(chunk, 'web') ??
    member<GeminiGroundingChunk>(chunk, 'retrievedContext') ??
    member<GeminiGroundingChunk>(chunk, 'maps');
  return { uri: member<GeminiGroundingSource>(source, 'uri'), title: member<GeminiGroundingSource>(source, 'title') };
}

function cite({ uri, title }: Source, words: string | undefined, text: string): Fragment[] {
  const url = textOf(uri);
  if (url === undefined) return [];
  const start = words === undefined ? -1 : text.lastIndexOf(words);
  const place = start === -1 || words === undefined ? undefined : { start, end: start + words.length };
  const citation: Citation = { url, title: textOf(title), quote: words, start: place?.start, end: place?.end };
  return [{ type: 'citation', citation }];
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
