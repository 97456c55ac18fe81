/*
 * What a mail server's refusal is about. Reply codes alone do not say it: "550" is the answer to an unknown mailbox, to a missing
 * sign-in and to a limit of the day, depending on the brand of the server.
 */

/** An error of a connection to a mail server, as nodemailer reports it. */
export interface SmtpFailure extends Error {
  /** The server's reply; undefined if it did not reply. */
  readonly response?: string;
  /** Code of the reply. */
  readonly responseCode?: number;
  /** The command that was answered; `CONN` for none. */
  readonly command?: string;
}

/**
 * - `recipient`: this mail can never be delivered: its mailbox does not exist or is full, its address is malformed, or it is too large.
 * - `server`: sign-in, relay rules, limits and policies, which other mails meet as well, and which the operator or time can change.
 * - `unclear`: the reply does not say which of the two.
 */
export type RefusalCause = 'recipient' | 'server' | 'unclear';

/** About the session: not implemented, bad sequence, authentication (RFC 5321 §4.2.3; RFC 4954 §6). */
const sessionCodes = new Set([500, 502, 503, 504, 530, 534, 535, 538]);

/** Causes by class and detail of enhanced status codes (RFC 3463 and the IANA registry); the first match counts. */
const statuses: readonly (readonly [pattern: RegExp, cause: RefusalCause])[] = [
  [/^7\./, 'server'], // security or policy
  [/^1\.[78]$/, 'server'], // the sender's address
  [/^1\.0$/, 'unclear'],
  [/^1\./, 'recipient'],
  [/^2\./, 'recipient'],
  [/^3\.4$/, 'recipient'], // message too big
  [/^3\./, 'server'],
  [/^4\.5$/, 'server'], // congestion; Gmail's limit of the day
  [/^5\./, 'server'],
];

/** Words about the mailbox, from servers without such a status. */
const recipientWords =
  /\b(user|recipient|mailbox|address|account)\b[^.;]{0,40}\b(unknown|not found|no longer|disabled|inactive|full|over quota|does ?n['o]t exist)|\b(unknown|no such|nonexistent)\b[^.;]{0,20}\b(user|recipient|mailbox|address|account|person)|\b(user|mailbox|quota)\b[^.;]{0,20}\b(exceeded|full)|message (size|too (big|large))/i;
/** Words about the sender, which affect its every mail. */
const serverWords =
  /authenti|\bauth\b|log ?in\b|credential|relay|\bsender\b|\blimit|\brate\b|too (many|fast)|exceed|spam|junk|block|blacklist|listed|reputation|policy|polic(y|ies)|denied|not (allowed|permitted|authori[sz]ed)|prohibit|suspend|\b(tls|ssl|encrypt\w*|dmarc|spf|dkim|ptr|rdns|helo|ehlo)\b|client host|(your|this) (ip|host|server|account)/i;

/** @param code 5xx @param reply the whole one */
export function causeOf(code: number, reply: string): RefusalCause {
  if (sessionCodes.has(code)) return 'server';
  const words = reply.slice(0, maxReplyLength);
  const status = statusOf(words);
  const known = statuses.find(([pattern]) => status !== undefined && pattern.test(status))?.[1];
  // 501 is about the argument of the command, the address, regardless of its enhanced status.
  if (known !== undefined && known !== 'unclear') return code === 501 && known === 'server' ? 'recipient' : known;
  if (code === 501 || code === 552 || code === 556) return 'recipient';
  if (recipientWords.test(words)) return 'recipient';
  return serverWords.test(words) ? 'server' : 'unclear';
}

/** Class and detail of the enhanced status: `7.1` of `550 5.7.1 …`. */
function statusOf(reply: string): string | undefined {
  return /(?<![.\d])[245]\.(\d{1,3}\.\d{1,3})(?![.\d])/.exec(reply)?.[1];
}

/** Key by which rejections of different recipients are equal: the code, and the status or otherwise the words. */
export function sameness({ responseCode, response = '' }: SmtpFailure, recipient: string): string {
  const words = response.replaceAll(recipient, '').replaceAll(recipient.slice(recipient.lastIndexOf('@') + 1), '');
  return `${responseCode} ${statusOf(response) ?? withoutAddresses(words).replace(/\d+/g, '')}`;
}

/** One line without e-mail addresses. */
export function describeFailure({ message }: Error): string {
  return withoutAddresses(message.replace(/^.*:SSL routines:[^:]*:([^:]*):.*$/s, 'TLS: $1')).slice(0, 300);
}

const maxReplyLength = 1_000;

/** Also removes addresses that a server echoes in pieces, such as `<jC<rgen@example.com>`. */
function withoutAddresses(text: string): string {
  return text
    .slice(0, maxReplyLength)
    .replace(/\s+/g, ' ')
    .replace(/(<|(?<=[\s"'(:]|^))[^\s"'(:]*@[^\s<>"'),;]*>?/g, '…')
    .trim();
}
