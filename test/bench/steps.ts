import type { Browser } from 'playwright-core';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.ts';
import { findChromium, findThreePorts, launchChromium } from '../sandbox/page/support/browser.ts';
import { LocalSlack } from '../support/slack/local-slack.ts';
import type { Figure } from './figures.ts';
import { awaitReboot } from './requests.ts';

// How much is typed and tapped from opening Slack to a reboot? The local Slack's page is driven as a user would on a phone, and
// the browser counts the keys and the touches. Every letter is typed: neither the page's completions nor a keyboard's are used.
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
const SEEN_WITHIN_MS = 20_000;
/** The most taps that a reboot from an alert may take (docs/servers.md). */
const MOST_FROM_AN_ALERT = 6;

interface Way {
  readonly name: string;
  reboot(phone: Phone, label: string): Promise<void>;
}

const typed = (name: string, place: string, command: string): Way => ({
  name,
  reboot: async (phone, label) => {
    await phone.goTo(place);
    await phone.write(`${command} ${label}`);
  },
});

const WAYS: readonly Way[] = [
  typed('slash command', 'ops', '/vps reboot'),
  {
    name: 'message shortcut on an alert',
    reboot: async (phone, label) => {
      await phone.goTo('ops');
      await phone.page.locator('.message', { hasText: `DiskFull (${label}:9100)` }).tap();
      await phone.tapLast('More message actions');
      await phone.page.getByRole('menuitem', { name: 'Manage server…' }).tap();
      await phone.tapLast(`Reboot ${label}`);
    },
  },
  typed('mention', 'ops', '@vps reboot'),
  typed('direct message', 'vps', 'reboot'),
  {
    name: 'server card (/vps show)',
    reboot: async (phone, label) => {
      await phone.goTo('ops');
      await phone.write(`/vps show ${label}`);
      await phone.tapLast(`Reboot ${label}`);
      await phone.confirm();
    },
  },
];

/** Reboots a server in every way, on a phone, from opening Slack in #general. */
export async function countSteps(): Promise<readonly Figure[]> {
  const chromium = findChromium();
  if (!chromium)
    return [{ what: 'keys and taps of a reboot', measured: 'no Chromium here, and no CHROMIUM_PATH' }];
  const sandbox = await startSandbox({ port: await findThreePorts(), logLevel: 'error' });
  const browser = await launchChromium(chromium);
  try {
    return await countAll(sandbox, browser);
  } finally {
    await browser.close();
    await sandbox.close();
  }
}

async function countAll(sandbox: Sandbox, browser: Browser): Promise<readonly Figure[]> {
  sandbox.hosting.seedServers(sandbox.account, WAYS.length, 'web');
  const figures: Figure[] = [];
  for (const [at, way] of WAYS.entries()) {
    const label = `web-${at + 1}`;
    await new LocalSlack(sandbox.slack).posts('#ops', {
      attachments: [{ title: `[FIRING:1] DiskFull (${label}:9100)` }],
    });
    const phone = await openPhone(browser, sandbox);
    await Promise.all([awaitReboot(sandbox.hosting, way.name), way.reboot(phone, label)]);
    const { keys, taps } = await phone.counts();
    const isFromAlert = way.name.includes('alert');
    const isMet = keys === 0 && taps <= MOST_FROM_AN_ALERT;
    const aim = isFromAlert ? { aim: `no keys, ≤ ${MOST_FROM_AN_ALERT} taps`, isMet } : {};
    figures.push({
      what: `a reboot on a phone: ${way.name}`,
      measured: `${keys} keys, ${taps} taps`,
      ...aim,
    });
    await phone.page.context().close();
  }
  return figures;
}

interface Counts {
  readonly keys: number;
  readonly taps: number;
}

/** Runs in the page: what a script does without the user is not trusted, and not counted. */
const COUNTING = `
  globalThis.counted = { keys: 0, taps: 0 };
  addEventListener('keydown', (event) => { if (event.isTrusted) counted.keys++; }, true);
  addEventListener('touchend', (event) => { if (event.isTrusted) counted.taps++; }, true);
`;

/** The page on a phone; what a user does is done by touch and keyboard. */
type Phone = Awaited<ReturnType<typeof openPhone>>;

async function openPhone(browser: Browser, { url, slack }: Sandbox) {
  // The last phone may have left a modal open.
  new LocalSlack(slack).as('olga').reloads();
  const context = await browser.newContext(PHONE);
  const page = await context.newPage();
  page.setDefaultTimeout(SEEN_WITHIN_MS);
  await page.addInitScript({ content: COUNTING });
  await page.goto(`${url}/?as=olga#general`);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await button('Channels and users').waitFor();
  return {
    page,
    goTo: async (channel: string) => {
      await button('Channels and users').tap();
      await page.getByRole('button', { name: new RegExp(`^${channel}(, \\d+ unread)?$`) }).tap();
    },
    write: async (text: string) => {
      await page.getByRole('combobox', { name: /^Message/ }).tap();
      await page.keyboard.type(text);
      await button('Send').tap();
    },
    /** Taps the newest button of that name. */
    tapLast: (name: string) => button(name).last().tap(),
    /** Answers Slack's confirmation dialog with yes. */
    confirm: () => page.locator('.dialog.confirm .dialog-foot .button:not(.deny)').tap(),
    counts: () => page.evaluate<Counts>('counted'),
  };
}
