/**
 * Products in the user agents of browsers, specific ones first, because their user agents also contain Chrome's or Safari's product. On iOS,
 * browsers have products of their own: `EdgiOS`, `OPT`, `FxiOS`, `CriOS`. A web view of Android has `Version/4.0` before Chrome's product.
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
/** Application on Electron, whose product comes before Chrome's: `Code/1.95.1 Chrome/130.0.1 Electron/32.2.5`. */
const electronPattern = /\b([\w.-]+)\/(\d+)\S* Chrome\/\S+ Electron\//;
const safariPattern = /\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\/|\bSafari\//;

interface Browser {
  readonly name: string;
  /** Major version. */
  readonly version: string | undefined;
}

/** Finds the browser, or the application on Electron, that sent a user agent; undefined for other programs. */
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
