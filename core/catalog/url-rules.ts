/**
 * What is wrong with the base URL of an upstream and what would be right; undefined when requests can be sent there. Only
 * origin and path are used of it: what stands beside them would be dropped without a word.
 */
export function baseUrlMistake(text: string): readonly [wrong: string, right: string] | undefined {
  const url = URL.parse(text);
  if (url === null)
    return ['is no address: its host or port is impossible', 'write one such as https://llm.example.com:8443/v1'];
  if (url.username !== '' || url.password !== '') {
    const right = 'put a key under api_keys; or say auth: none, and put the Authorization header under headers';
    return ['has a user or password in it, which would not be sent', right];
  }
  const rest = /[?#]/.exec(text)?.[0];
  if (rest === undefined) return undefined;
  return [
    `has a ${rest === '?' ? 'query' : 'fragment'} (${rest}…), which would not be sent`,
    'take it out; keys belong under api_keys, whatever else the endpoint wants under headers',
  ];
}
