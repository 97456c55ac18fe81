/**
 * JSON schemas (draft-07) of what a Messages client receives. Sources: Anthropic API reference, "The Message object", "Streaming Messages",
 * "Errors"; MessageStream of the anthropic SDK for required properties.
 */
import { shape } from './shape.ts';

const text = { type: 'string' } as const;
const someText = { type: 'string', minLength: 1 } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const count = { type: 'integer', minimum: 0 } as const;
const object = { type: 'object' } as const;
const is = (value: string): object => ({ const: value });

const citation = shape({
  type: is('web_search_result_location'),
  url: someText,
  title: textOrNull,
  encrypted_index: text,
  cited_text: text,
});
const citations = { type: 'array', minItems: 1, items: citation };
const nothing = { type: 'null' };
const toolHead = { type: is('tool_use'), id: someText, name: someText, caller: shape({ type: is('direct') }) };
const redacted = shape({ type: is('redacted_thinking'), data: someText });

const block = {
  anyOf: [
    shape({ type: is('text'), text: someText }, { citations }),
    // The text may be withheld from the client, but never the signature.
    shape({ type: is('thinking'), thinking: text, signature: someText }),
    redacted,
    shape({ ...toolHead, input: object }),
  ],
};
/** A block when it starts; properties with deltas are empty. */
const openBlock = {
  anyOf: [
    shape({ type: is('text'), text: is('') }),
    shape({ type: is('thinking'), thinking: is(''), signature: is('') }),
    redacted,
    shape({ ...toolHead, input: { type: 'object', maxProperties: 0 } }),
  ],
};
const delta = {
  anyOf: [
    shape({ type: is('text_delta'), text: someText }),
    shape({ type: is('thinking_delta'), thinking: someText }),
    shape({ type: is('signature_delta'), signature: someText }),
    // An empty piece breaks clients that parse the input received so far.
    shape({ type: is('input_json_delta'), partial_json: someText }),
    shape({ type: is('citations_delta'), citation }),
  ],
};

const counts = {
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
  output_tokens_details: shape({ thinking_tokens: count }),
  server_tool_use: nothing,
};
const usage = shape(counts);
const wholeUsage = shape({
  ...counts,
  cache_creation: nothing,
  inference_geo: nothing,
  service_tier: { enum: [null, 'standard', 'priority', 'batch'] },
  speed: nothing,
});
const stop_reason = {
  enum: [
    'end_turn',
    'max_tokens',
    'stop_sequence',
    'tool_use',
    'pause_turn',
    'refusal',
    'model_context_window_exceeded',
  ],
};
const refusal = shape({ type: is('refusal'), category: textOrNull, explanation: textOrNull });
const stop_details = { anyOf: [{ type: 'null' }, refusal] };
const messageHead = {
  id: { type: 'string', pattern: '^msg_.+' },
  type: is('message'),
  role: is('assistant'),
  model: someText,
  container: nothing,
  diagnostics: nothing,
};

/** The answer to a non-streaming request. */
export const wholeReplySchema = shape({
  ...messageHead,
  content: { type: 'array', items: block },
  stop_reason,
  stop_sequence: textOrNull,
  stop_details,
  usage: wholeUsage,
});

const begun = shape({
  ...messageHead,
  content: { type: 'array', maxItems: 0 },
  stop_reason: { type: 'null' },
  stop_sequence: { type: 'null' },
  stop_details: nothing,
  usage: wholeUsage,
});
const errorDetails = shape(
  {
    type: {
      enum: [
        'invalid_request_error',
        'authentication_error',
        'billing_error',
        'permission_error',
        'not_found_error',
        'conflict_error',
        'request_too_large',
        'rate_limit_error',
        'timeout_error',
        'api_error',
        'overloaded_error',
        'not_supported',
      ],
    },
    message: someText,
  },
  { details: object },
);

/** An error body, and the event that ends a stream with an error. */
export const errorSchema = shape({ type: is('error'), error: errorDetails }, { request_id: textOrNull });

const index = count;
const eventMembers: Readonly<Record<string, Record<string, object>>> = {
  ping: {},
  message_start: { message: begun },
  content_block_start: { index, content_block: openBlock },
  content_block_delta: { index, delta },
  content_block_stop: { index },
  message_delta: { delta: shape({ container: nothing, stop_reason, stop_sequence: textOrNull, stop_details }), usage },
  message_stop: {},
};

/** The keys are types of events; events of other types must not be sent. */
export const eventSchema: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    Object.entries(eventMembers).map(([type, members]) => [type, shape({ type: is(type), ...members })]),
  ),
  error: errorSchema,
};
