import { parseObject } from '#core/platform/json.ts';
import type { ClientFrame } from './read-frame.ts';

const maxEchoBytes = 16_384; // the largest event whose input the rejection repeats

/** Writes the rejection of `response.steer`. Like OpenAI's, it repeats the input. */
export function writeSteerRefusal({ bytes }: ClientFrame): string {
  const event = bytes.length <= maxEchoBytes ? parseObject(bytes.toString()) : undefined;
  const error = {
    type: 'invalid_request_error',
    code: 'steering_not_supported',
    message: 'This service cannot steer responses. Send the message with the next `response.create`.',
  };
  return JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    error,
    steer: { input: event?.['input'] ?? null, previous_response_id: event?.['previous_response_id'] ?? null },
  });
}
