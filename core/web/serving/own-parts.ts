import { fileURLToPath } from 'node:url';
import type { AssetSource } from '../pages/page.ts';
import { viewPath } from '../pages/views.ts';
import { defineTexts } from '../texts/texts.ts';
import en from '../texts/en.json' with { type: 'json' };
import id from '../texts/id.json' with { type: 'json' };

/** Texts of the layout, of error pages and of forms. */
export const ownTexts = defineTexts({ en, id });

/** What the layout loads, and what pages of plugins may: htmx with its extension for server-sent events. */
export const ownAssets: readonly AssetSource[] = [
  { name: 'style.css', path: viewPath('style.css') },
  { name: 'dark.css', path: viewPath('dark.css') },
  { name: 'icon.svg', path: viewPath('icon.svg') },
  { name: 'icon-192.png', path: viewPath('icon-192.png') },
  { name: 'icon-512.png', path: viewPath('icon-512.png') },
  { name: 'preview.png', path: viewPath('preview.png') },
  { name: 'page.js', path: viewPath('page.js') },
  { name: 'live.js', path: viewPath('live.js') },
  { name: 'htmx.js', path: fileFromPackage('htmx.org/dist/htmx.min.js') },
  { name: 'htmx-sse.js', path: fileFromPackage('htmx-ext-sse/dist/sse.min.js') },
];

function fileFromPackage(specifier: string): string {
  return fileURLToPath(import.meta.resolve(specifier));
}
