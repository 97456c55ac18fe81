import { fileURLToPath } from 'node:url';
import type { Server } from '@hapi/hapi';
import type { Registry } from '#core/extension/registry.ts';
import type { Page } from '#core/web/pages/page.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { describeHome } from './describe-home.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const part = (name: string) => `dashboard/home/${name}.eta`;

const pollEvery = 10; // seconds between updates of the rate limit, which changes without an event

/** The home page: remaining plan and limits, usage, and latest requests. */
function homePage(gateway: Registry): Page {
  return {
    path: '/dashboard',
    role: 'account',
    title: 'home.title',
    navigation: { label: 'home.title', icon: 'home', order: 10, place: 'main' },
    template: 'dashboard/home/page.eta',
    styles: ['dashboard/requests/requests.css', 'dashboard/dashboard.css'],
    scripts: ['uplot.js', 'dashboard/home/chart.js'],
    show: (request) => describeHome(request, gateway),
    live: {
      topics: ['requests', 'account'],
      everySeconds: pollEvery,
      parts: {
        reminder: part('reminder'),
        pass: part('pass'),
        tiles: part('tiles'),
        empty: part('empty'),
        chart: part('chart'),
        models: part('models'),
        latest: part('latest'),
      },
    },
  };
}

export function register({ gateway }: Server): void {
  gateway.texts(defineTexts({ en, id }));
  gateway.assets({ name: 'uplot.js', path: fileURLToPath(import.meta.resolve('uplot/dist/uPlot.iife.min.js')) });
  gateway.page(homePage(gateway));
}
