import { describe, expect, it } from 'vitest';
import { parseSmtpUrl } from '#core/business/mail/smtp-url.ts';

describe('the URL of a mail server', () => {
  it.each([
    ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, usesImplicitTls: true, user: undefined }],
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, usesImplicitTls: false }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525 }],
    ['smtps://u%40x.com:p%2Fw@mail.example.com:465', { user: 'u@x.com', password: 'p/w' }],
    ['smtps://user:p@ss:w/rd%@mail.example.com:465', { user: 'user', password: 'p@ss:w/rd%', port: 465 }],
    ['smtps://key@mail.example.com', { user: 'key', password: undefined }],
    ['smtps://:secret@mail.example.com', { user: '', password: 'secret' }],
  ])('%s is read', (url, expected) => {
    expect(parseSmtpUrl(url)).toMatchObject(expected);
  });

  it.each([
    '',
    'mail.example.com',
    'https://mail.example.com',
    'smtps://',
    'smtps://u:p@',
    'smtps://host:port',
    'smtps://host:0',
    'smtps://host:65536',
    'smtp://a b',
  ])('"%s" is not one', (url) => {
    expect(parseSmtpUrl(url)).toBeUndefined();
  });
});
