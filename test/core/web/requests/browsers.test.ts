import { expect, it } from 'vitest';
import { formatClientName } from '#core/web/requests/describe-facts.ts';
import { describeDevice } from '#core/web/sessions/device.ts';

const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const iPhone = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${webkit}`;
const android = `Mozilla/5.0 (Linux; Android 10; K) ${blink}`;
const windows = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink}`;

/** User agents as the browsers of 2024 and 2025 send them. */
it.each([
  [`${android} Chrome/137.0.0.0 Mobile Safari/537.36`, 'Chrome 137', 'Chrome, Android'],
  [`${iPhone} CriOS/138.0.7204.119 Mobile/15E148 Safari/604.1`, 'Chrome 138', 'Chrome, iPhone'],
  [`${iPhone} Version/18.5 Mobile/15E148 Safari/604.1`, 'Safari 18', 'Safari, iPhone'],
  [`${windows} Chrome/137.0.0.0 Safari/537.36 Edg/137.0.0.0`, 'Edge 137', 'Edge, Windows'],
  [`${windows} Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763`, 'Edge 18', 'Edge, Windows'],
  [`${android} Chrome/137.0.0.0 Mobile Safari/537.36 EdgA/136.0.0.0`, 'Edge 136', 'Edge, Android'],
  [`${iPhone} Version/18.0 EdgiOS/137.3296.91 Mobile/15E148 Safari/605.1.15`, 'Edge 137', 'Edge, iPhone'],
  [`${windows} Chrome/135.0.0.0 Safari/537.36 OPR/120.0.0.0`, 'Opera 120', 'Opera, Windows'],
  [`${android} Chrome/134.0.0.0 Mobile Safari/537.36 OPR/89.5.4.0`, 'Opera 89', 'Opera, Android'],
  [`${iPhone} Version/18.5 Mobile/15E148 Safari/604.1 OPT/5.6.0`, 'Opera 5', 'Opera, iPhone'],
  [
    `${android} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet 28',
    'Samsung Internet, Android',
  ],
  ['Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox 140', 'Firefox, Android'],
  [`${iPhone} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`, 'Firefox 140', 'Firefox, iPhone'],
  [`${android} Version/4.0 Chrome/125.0.0.0 Mobile Safari/537.36`, 'Chrome 125', 'Chrome, Android'],
  [
    `${android} Version/4.0 Chrome/123.0.0.0 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.30.1`,
    'Mi Browser 14',
    'Mi Browser, Android',
  ],
  [`${windows} Code/1.95.1 Chrome/128.0.6613.186 Electron/32.2.1 Safari/537.36`, 'Code 1', 'Code, Windows'],
])('%s is %s', (userAgent, name, device) => {
  expect([formatClientName(userAgent), describeDevice(userAgent)]).toEqual([name, device]);
});
