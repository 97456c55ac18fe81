import { domainToASCII } from 'node:url';

/**
 * Returns an email address with its domain in Punycode, as SMTP without SMTPUTF8 requires: `ani@xn--mnchen-3ya.example`. The local part is
 * unchanged, because it has no ASCII form (RFC 6531, section 3.1).
 */
export function toAsciiAddress(address: string): string {
  const separator = address.lastIndexOf('@');
  return separator < 0 ? address : `${address.slice(0, separator)}@${toAsciiDomain(address.slice(separator + 1))}`;
}

/** Returns the domain of an email address, in Punycode. */
export function readDomain(address: string): string {
  return toAsciiDomain(address.slice(address.lastIndexOf('@') + 1));
}

/** Converts a domain to Punycode. Returns an invalid domain unchanged, because the mail server rejects it. */
function toAsciiDomain(domain: string): string {
  // eslint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(domain) ? domain : domainToASCII(domain) || domain;
}
