import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../../../plugins/format/canonical/codec.ts';
import type { Conversation } from '../../../../../plugins/format/canonical/conversation.ts';
import { responsesCodec } from '../../../../../plugins/format/formats/responses/codec.ts';
import { responses } from '../../../../../plugins/format/formats/responses/descriptor.ts';
import { decodeWith, type Decoded, encodeWith, refusalBy } from '../../codec-fixture.ts';

export { calls, clientTool, nothing, picture, returns, says, text } from '../../codec-fixture.ts';

export function decode(body: JsonObject): Decoded {
  return decodeWith(responsesCodec, body);
}

export function refusal(body: JsonObject): GatewayError {
  return refusalBy(() => decode(body));
}

export function encode(
  wanted: Partial<Conversation>,
  profile: ProfileSettings = {},
  target: Partial<EncodeTarget> = {},
): { body: JsonObject; notes: readonly string[] } {
  return encodeWith(responses, wanted, {
    model: 'gpt-there',
    profile,
    isStream: true,
    findAcceptedState: (state) => state?.data,
    ...target,
  });
}
