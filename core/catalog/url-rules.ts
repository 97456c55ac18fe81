/**
 * The mistake in the base URL of an upstream and its correction; undefined for a valid one. Requests use only origin and
 * path, so anything else would be dropped silently.
 */
export function baseUrlMistake(text: string): readonly [wrong: string, right: string] | undefined {
  const url = URL.parse(text);
  if (url === null)
    return ['is not a valid URL: its host or port is invalid', 'use one such as https://llm.example.com:8443/v1'];
  if (url.username !== '' || url.password !== '') {
    const right = 'put a key under api_keys, or set auth: none and put the Authorization header under headers';
    return ['contains a user or password, which would not be sent', right];
  }
  const rest = /[?#]/.exec(text)?.[0];
  if (rest === undefined) return undefined;
  return [
    `has a ${rest === '?' ? 'query' : 'fragment'} (${rest}…), which would not be sent`,
    'remove it; keys belong under api_keys, other credentials under headers',
  ];
}
