import type { Accepted } from './accepted.ts';
import type { ClientFormatName } from './routes.ts';

const name = 'the name under which the client knows the model';
const tagged = 'a tag of its origin stands before it';
const failed = 'what a vendor reports as an error is one, before the first byte on another route';
const decided = 'the content decides how an answer ended';

/** Values of answers that a client of the vendor's own format gets in another way. Any other is a failure, and so is an entry that nothing needs. */
export const acceptedChanges: Readonly<Record<ClientFormatName, readonly Accepted[]>> = {
  chat: [
    { members: /^model$/, reason: name },
    { members: /^choices\[\]\.finish_reason$/, reason: decided },
    { members: /\.function_call$/, reason: 'a call in the deprecated form, which was not asked for, is in the other' },
  ],
  responses: [
    { members: /\.encrypted_content$/, reason: tagged },
    { members: /^(?:error|status|\((?:error|response\.failed)\)).* fails$|^error fails$/, reason: failed },
    { members: /^\(response\.completed\)\.response\.status fails$/, reason: failed },
  ],
  messages: [
    { members: /^(?:message\.)?model$/, reason: name },
    { members: /\.(?:signature|data)$/, reason: tagged },
    { members: /^(?:delta\.)?stop_reason$/, reason: decided },
    { members: /^(?:content\[\]|content_block)\.citations$/, reason: 'null breaks AI SDK 5 and 6, and says nothing' },
  ],
  gemini: [
    { members: /^modelVersion$/, reason: name },
    { members: /\.thoughtSignature$/, reason: tagged },
    { members: /^candidates\[\]\.finishReason fails$/, reason: failed },
  ],
};
