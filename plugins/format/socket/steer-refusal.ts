import { parseObject } from '#core/platform/json.ts';
import type { ClientFrame } from './read-frame.ts';

const longestEcho = 16_384; // maximum bytes of an event whose input the rejection repeats

/** The answer to `response.steer`, which repeats the input like OpenAI's answer. */
export function steerRefusal({ bytes }: ClientFrame): string {
  const isShort = bytes.length <= longestEcho;
  const { input, previous_response_id } = (isShort && parseObject(bytes.toString())) || {};
  const error = {
    type: 'invalid_request_error',
    code: 'steering_not_supported',
    message: 'This service does not steer responses. Send the message with the next `response.create`.',
  };
  return JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    error,
    steer: { input: input ?? null, previous_response_id: previous_response_id ?? null },
  });
}
