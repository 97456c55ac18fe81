/*
 * Finds out why a mail server rejected a mail. The reply code alone does not say: depending on the server software, "550" means an unknown
 * mailbox, a missing sign-in or a daily limit.
 */

/** An error of the connection to a mail server, as nodemailer reports it. */
export interface SmtpFailure extends Error {
  readonly response?: string;
  readonly responseCode?: number;
  readonly command?: string; // that the server replied to; `CONN` before the first one
}

/**
 * - `recipient`: this mail can never be delivered, because its mailbox does not exist or is full, its address is malformed, or it is too
 *   large.
 * - `server`: sign-in, relay rules, limits and policies. These affect other mails too, and may pass with time or after the operator acts.
 * - `unclear`: the reply does not say.
 */
export type RefusalCause = 'recipient' | 'server' | 'unclear';

const maxReplyLength = 1_000; // only this much of a reply is matched or shown

/** Codes about the session: not implemented, bad sequence, authentication (RFC 5321 §4.2.3; RFC 4954 §6). */
const sessionCodes = new Set([500, 502, 503, 504, 530, 534, 535, 538]);

/** Causes by class and detail of enhanced status codes (RFC 3463 and the IANA registry). The first match wins. */
const statusCauses: readonly (readonly [pattern: RegExp, cause: RefusalCause])[] = [
  [/^7\./, 'server'], // security or policy
  [/^1\.[78]$/, 'server'], // the sender's address
  [/^1\.0$/, 'unclear'],
  [/^1\./, 'recipient'],
  [/^2\./, 'recipient'],
  [/^3\.4$/, 'recipient'], // message too large
  [/^3\./, 'server'],
  [/^4\.5$/, 'server'], // congestion; Gmail's daily limit
  [/^5\./, 'server'],
];

/** Some servers send no enhanced status, only words. */
const recipientWords =
  /\b(user|recipient|mailbox|address|account)\b[^.;]{0,40}\b(unknown|not found|no longer|disabled|inactive|full|over quota|does ?n['o]t exist)|\b(unknown|no such|nonexistent)\b[^.;]{0,20}\b(user|recipient|mailbox|address|account|person)|\b(user|mailbox|quota)\b[^.;]{0,20}\b(exceeded|full)|message (size|too (big|large))/i;
/** These words are about the sender, so they concern all of its mails. */
const serverWords =
  /authenti|\bauth\b|log ?in\b|credential|relay|\bsender\b|\blimit|\brate\b|too (many|fast)|exceed|spam|junk|block|blacklist|listed|reputation|policy|polic(y|ies)|denied|not (allowed|permitted|authori[sz]ed)|prohibit|suspend|\b(tls|ssl|encrypt\w*|dmarc|spf|dkim|ptr|rdns|helo|ehlo)\b|client host|(your|this) (ip|host|server|account)/i;

export function classifyRefusal(code: number, reply: string): RefusalCause {
  if (sessionCodes.has(code)) return 'server';
  const words = reply.slice(0, maxReplyLength);
  const status = parseStatus(words);
  const statusCause = statusCauses.find(([pattern]) => status !== undefined && pattern.test(status))?.[1];
  // 501 is about the command's argument, which is the address, whatever the enhanced status.
  if (statusCause !== undefined && statusCause !== 'unclear')
    return code === 501 && statusCause === 'server' ? 'recipient' : statusCause;
  if (code === 501 || code === 552 || code === 556) return 'recipient';
  if (recipientWords.test(words)) return 'recipient';
  return serverWords.test(words) ? 'server' : 'unclear';
}

/** Returns class and detail, such as `7.1` in `550 5.7.1 …`. */
function parseStatus(reply: string): string | undefined {
  return /(?<![.\d])[245]\.(\d{1,3}\.\d{1,3})(?![.\d])/.exec(reply)?.[1];
}

/** Identical rejections of different recipients share the key: the code with the enhanced status or, without one, with the text. */
export function createRefusalKey({ responseCode, response = '' }: SmtpFailure, recipient: string): string {
  const words = response.replaceAll(recipient, '').replaceAll(recipient.slice(recipient.lastIndexOf('@') + 1), '');
  return `${responseCode} ${parseStatus(response) ?? removeAddresses(words).replace(/\d+/g, '')}`;
}

/** Returns one line without email addresses. */
export function formatFailure({ message }: Error): string {
  return removeAddresses(message.replace(/^.*:SSL routines:[^:]*:([^:]*):.*$/s, 'TLS: $1')).slice(0, 300);
}

/** Also removes addresses that a server splits, such as `<jC<rgen@example.com>`. */
function removeAddresses(text: string): string {
  return text
    .slice(0, maxReplyLength)
    .replace(/\s+/g, ' ')
    .replace(/(<|(?<=[\s"'(:]|^))[^\s"'(:]*@[^\s<>"'),;]*>?/g, '…')
    .trim();
}
