/** A program in front of its language, as the SDKs of OpenAI and Anthropic write it: `OpenAI/Python 1.54.0`. */
const sdk = /^(\w[\w.-]*)\/(Python|JS|Node|TypeScript|Go|Java|Ruby|PHP|\.NET) (\d[\w.+-]*)/i;
const product = /^([\w@][\w@.-]*)\/v?(\d[\w.+-]*)/;
/** By the products in the User-Agent of a browser, the telling ones first: all others name Chrome or Safari too. */
const browsers = { Firefox: 'Firefox', Edg: 'Edge', OPR: 'Opera', Chrome: 'Chrome', Version: 'Safari' } as const;

/**
 * A User-Agent as people know the program: `OpenAI/Python 1.54.0` is "OpenAI Python 1.54.0", `claude-cli/2.1.0 (external)`
 * is "claude-cli 2.1.0". What it does not recognise stays as it is.
 */
export function clientName(userAgent: string): string {
  if (userAgent.startsWith('Mozilla/')) return browserName(userAgent) ?? userAgent;
  const [, name, language, version] = sdk.exec(userAgent) ?? [];
  if (name !== undefined) return `${name} ${language} ${version}`;
  const [, program, number] = product.exec(userAgent) ?? [];
  return program === undefined ? userAgent : `${program} ${number}`;
}

function browserName(userAgent: string): string | undefined {
  for (const [sign, name] of Object.entries(browsers)) {
    const version = new RegExp(`\\b${sign}/(\\d+)`).exec(userAgent)?.[1];
    if (version !== undefined) return `${name} ${version}`;
  }
  return undefined;
}
