/**
 * Product names in browsers' user agents. Specific ones come first, because their user agents also contain Chrome's or Safari's name. On
 * iOS, browsers use other names: `EdgiOS`, `OPT`, `FxiOS`, `CriOS`. A web view on Android has `Version/4.0` in front of Chrome's name.
 */
const products = [
  ['Edg(?:e|A|iOS)?', 'Edge'],
  ['OP[RTX]|Opera', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['YaBrowser', 'Yandex Browser'],
  ['Vivaldi', 'Vivaldi'],
  ['UCBrowser', 'UC Browser'],
  ['MiuiBrowser', 'Mi Browser'],
  ['HeyTapBrowser', 'HeyTap Browser'],
  ['VivoBrowser', 'Vivo Browser'],
  ['HuaweiBrowser', 'Huawei Browser'],
  ['Firefox|FxiOS', 'Firefox'],
  ['Chrome|CriOS|Chromium', 'Chrome'],
] as const;

const patterns = products.map(([product, name]) => ({ name, pattern: new RegExp(`\\b(?:${product})/(\\d+)?`) }));
/** An Electron application, whose name comes before Chrome's: `Code/1.95.1 Chrome/130.0.1 Electron/32.2.5`. */
const electronPattern = /\b([\w.-]+)\/(\d+)\S* Chrome\/\S+ Electron\//;
const safariPattern = /\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\/|\bSafari\//;

interface Browser {
  readonly name: string;
  readonly version: string | undefined; // major
}

/** Returns the browser or Electron application that sent a user agent; undefined for other programs. */
export function findBrowser(userAgent: string): Browser | undefined {
  const [, application, applicationVersion] = electronPattern.exec(userAgent) ?? [];
  if (application !== undefined) return { name: application, version: applicationVersion };
  for (const { name, pattern } of patterns) {
    const match = pattern.exec(userAgent);
    if (match !== null) return { name, version: match[1] };
  }
  const safari = safariPattern.exec(userAgent);
  return safari === null ? undefined : { name: 'Safari', version: safari[1] };
}
