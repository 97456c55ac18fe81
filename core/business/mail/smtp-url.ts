import { decodePercent } from '#core/platform/percent-encoding.ts';

const maxPort = 65_535;

/** A mail server and its credentials. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly usesImplicitTls: boolean; // true for TLS from the first byte, false for STARTTLS
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** True if mail may be sent unencrypted. The server's certificate is then not verified. */
  readonly allowsPlaintext?: boolean;
}

const urlPattern =
  /^(?<scheme>smtps?):\/\/(?:(?<credentials>.*)@)?(?<host>\[[\da-f:.]+\]|[^\s@/:?#[\]]+)(?::(?<port>\d{1,5}))?\/?$/i;

/**
 * Parses `smtps://user:password@host:465` and decodes percent-encoding. Does not use `URL`, because the password comes from the environment
 * and may contain any character.
 *
 * @returns undefined if the text is not such a URL, or if the port does not exist
 */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const { scheme = '', credentials, host = '', port: portText } = urlPattern.exec(text)?.groups ?? {};
  if (host === '') return undefined;
  const usesImplicitTls = scheme.toLowerCase() === 'smtps';
  const defaultPort = usesImplicitTls ? 465 : 587;
  const port = portText === undefined ? defaultPort : Number(portText);
  if (port < 1 || port > maxPort) return undefined;
  const colonIndex = credentials?.indexOf(':') ?? -1;
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port,
    usesImplicitTls,
    user:
      credentials === undefined
        ? undefined
        : decodePercent(colonIndex < 0 ? credentials : credentials.slice(0, colonIndex)),
    password:
      credentials === undefined || colonIndex < 0 ? undefined : decodePercent(credentials.slice(colonIndex + 1)),
  };
}
