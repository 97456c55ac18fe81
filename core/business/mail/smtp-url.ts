import { decodePercent } from '#core/platform/percent-encoding.ts';

const maxPort = 65_535;

/** A mail server and its credentials. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** True for TLS from the first byte, false for STARTTLS. */
  readonly isSecure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** True if mail may be sent to it unencrypted; its certificate is then not verified. */
  readonly canBePlain?: boolean;
}

const urlPattern =
  /^(?<scheme>smtps?):\/\/(?:(?<credentials>.*)@)?(?<host>\[[\da-f:.]+\]|[^\s@/:?#[\]]+)(?::(?<port>\d{1,5}))?\/?$/i;

/**
 * Parses `smtps://user:password@host:465` and decodes percent-encoding. Does not use `URL`, because the password comes from the environment
 * and may contain any character.
 *
 * @returns undefined if the text is not such a URL, or its port does not exist
 */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const { scheme = '', credentials, host = '', port: portText } = urlPattern.exec(text)?.groups ?? {};
  if (host === '') return undefined;
  const isSecure = scheme.toLowerCase() === 'smtps';
  const port = portText === undefined ? (isSecure ? 465 : 587) : Number(portText);
  if (port < 1 || port > maxPort) return undefined;
  const colon = credentials?.indexOf(':') ?? -1;
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port,
    isSecure,
    user: credentials === undefined ? undefined : decodePercent(colon < 0 ? credentials : credentials.slice(0, colon)),
    password: credentials === undefined || colon < 0 ? undefined : decodePercent(credentials.slice(colon + 1)),
  };
}
