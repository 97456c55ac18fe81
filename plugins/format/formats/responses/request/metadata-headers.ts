import { isJsonObject } from '#core/platform/json.ts';
import type { ResponsesRequest } from '../../../wire/responses.ts';

const prefix = 'ws_request_header_';
const maxValueLength = 1024; // characters; the outline of a long body cuts longer values
const headerTextPattern = /^[\x20-\x7e]+$/;

/**
 * Reads the headers for one request on a WebSocket, which Codex puts into `client_metadata`. For example,
 * `ws_request_header_x_openai_internal_codex_responses_lite` corresponds to the header `x-openai-internal-codex-responses-lite` of a POST.
 * Source: Codex 0.171.0.
 */
export function readMetadataHeaders({ client_metadata: metadata }: ResponsesRequest): Record<string, string> {
  if (!isJsonObject(metadata)) return {};
  return Object.fromEntries(
    Object.entries(metadata).flatMap(([name, value]): [string, string][] => {
      if (!name.startsWith(prefix) || typeof value !== 'string') return [];
      if (value.length > maxValueLength || !headerTextPattern.test(value)) return [];
      return [[name.slice(prefix.length).replaceAll('_', '-').toLowerCase(), value]];
    }),
  );
}
