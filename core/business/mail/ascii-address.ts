import { domainToASCII } from 'node:url';

/**
 * Returns an email address with its domain in Punycode, as SMTP without SMTPUTF8 requires: `ani@xn--mnchen-3ya.example`. The local part is
 * unchanged, because it has no ASCII form (RFC 6531, section 3.1).
 */
export function toAsciiAddress(address: string): string {
  const separator = address.lastIndexOf('@');
  return separator < 0 ? address : `${address.slice(0, separator)}@${toAsciiDomain(address.slice(separator + 1))}`;
}

/** Returns the domain of an email address, in Punycode. Without an `@`, the whole text is taken as the domain. */
export function asciiDomainOf(address: string): string {
  return toAsciiDomain(address.slice(address.lastIndexOf('@') + 1));
}

function toAsciiDomain(domain: string): string {
  // `domainToASCII` would lowercase or reject some ASCII domains. The mail server rejects invalid domains.
  // eslint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(domain) ? domain : domainToASCII(domain) || domain;
}
