import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { makeFolder } from '../db/support.ts';
import { createServer, orderOf } from '../support/acts.ts';
import { readMetrics, startTeam, type Team } from '../support/team.ts';

const ALERTS = 'docs/deploy/alerts.yml';
const { rules } = (
  parse(readFileSync(ALERTS, 'utf8')) as { groups: [{ rules: { alert: string; expr: string }[] }] }
).groups[0];
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}
const dashboard: Dashboard = JSON.parse(readFileSync('docs/deploy/grafana-dashboard.json', 'utf8'));
const page = readFileSync('docs/operating.md', 'utf8');

/** Every expression of both files, with the labels that its legend shows. */
const expressions = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr, legend: '' })),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expr, legend: legendFormat })),
  ),
];

/** The values of each label, by the names of the numbers. Prometheus itself adds `job` and `instance`. */
type Scraped = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

function readScraped(text: string): Scraped {
  const found = new Map<string, Map<string, Set<string>>>();
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Map<string, Set<string>>();
    found.set(name, known);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g))
      known.set(label, (known.get(label) ?? new Set<string>()).add(value));
  }
  return found;
}

/** What an expression names that was not scraped. */
function findUnknown(expr: string, legend: string, scraped: Scraped): string[] {
  const named = [...expr.matchAll(/\b(vps_\w+)(?:\{([^}]*)\})?/g)];
  const labelsOf = (name: string) => [...(scraped.get(name)?.keys() ?? []), 'job', 'instance'];
  const missing = named.flatMap(([, name = '', selector = '']) => {
    if (!scraped.has(name)) return [name];
    const labels = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    return labels.filter((label) => !labelsOf(name).includes(label)).map((label) => `${name}{${label}}`);
  });
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
  const everywhere = [...grouped, ...shown].filter((label) =>
    named.some(([, name = '']) => !labelsOf(name).includes(label)),
  );
  return [...missing, ...everywhere];
}

let team: Team;
let scraped: Scraped;
let numbers: string;
const value = (series: string) =>
  Number(
    numbers
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')[1],
  );

// An order that is paid, one that is unconfirmed, something denied, and something that Slack refuses.
beforeAll(async () => {
  team = await startTeam();
  const { slack, hosting, manager, viewer, appUrl } = team;
  await createServer(manager);
  hosting.faults.add({ on: 'create', kind: 'lost_before' });
  await manager.types(orderOf('web-2'));
  await manager.presses('Create and pay');
  await manager.sees('confirm');
  slack.faults.failMethod('chat.postMessage', 'is_archived');
  await viewer.types('/vps reboot web-1');
  await viewer.sees('operator');
  await manager.types('/vps reboot web-1');
  await manager.sees('reboot');
  numbers = await readMetrics(appUrl);
  scraped = readScraped(numbers);
});
afterAll(() => team[Symbol.asyncDispose]());

describe('/metrics', () => {
  test('says what is stored, what was denied, and how Slack and the limit are doing', () => {
    expect({
      unconfirmed: value('vps_operations_open{state="unconfirmed"}'),
      sent: value('vps_operations_open{state="sent"}'),
      unsaved: value('vps_passwords_unsaved'),
      denied: value('vps_denied_total'),
      ready: value('vps_ready'),
      connected: value('vps_slack_connected'),
      due: value('vps_jobs_due{kind="prune"}'),
      failing: value('vps_jobs_failing{kind="prune"}'),
    }).toEqual({
      unconfirmed: 1,
      sent: 0,
      unsaved: 1,
      denied: 1,
      ready: 1,
      connected: 1,
      due: 0,
      failing: 0,
    });
    expect(value('vps_slack_calls_total{method="chat.postMessage",outcome="is_archived"}')).toBeGreaterThan(
      0,
    );
    expect(value('vps_slack_ack_seconds_count')).toBeGreaterThan(3);
    expect(value('vps_limiter_taken')).toBeGreaterThan(3);
    expect(value('vps_limiter_waiting')).toBeLessThan(5);
    const age = value('vps_operations_oldest_unconfirmed_seconds');
    expect([age > 0, age < 600]).toEqual([true, true]);
  });

  test('has no label that names a user, a server or a workspace', () => {
    const labels = new Set([...scraped.values()].flatMap((each) => [...each.keys()]));
    expect([...labels].sort()).toEqual(['kind', 'le', 'method', 'operation', 'outcome', 'state']);
    for (const found of scraped.values())
      for (const [label, values] of found)
        for (const each of values)
          expect([label, each]).toEqual([label, expect.stringMatching(/^[a-z_+.I\d ]{1,40}$/i)]);
    expect(numbers).not.toMatch(/web-|\b[UTC]0/);
  });

  test('has every number and label that the alerts and the dashboard name', () => {
    const unknown = expressions.flatMap(({ where, expr, legend }) =>
      findUnknown(expr, legend, scraped).map((name) => `${where}: ${name}`),
    );
    expect(unknown).toEqual([]);
    expect(expressions.filter(({ expr }) => /\bvps_/.test(expr)).length).toBeGreaterThan(30);
  });

  test('is described on the page for operators: every number, and no others', () => {
    const inTable = [...page.matchAll(/^\| `(vps_\w+)/gm)].map(([, name = '']) => name);
    const families = [...numbers.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name);
    expect(inTable.sort()).toEqual(families.sort());
  });
});

test('the page for operators says what to do at each alert, and names no others', () => {
  const inTable = [...page.matchAll(/^\| `(VpsSlack\w+)`/gm)].map(([, name = '']) => name);
  expect(inTable).toEqual(rules.map(({ alert }) => alert));
});

/** Where it is missing, the run says so; CI installs it, and fails without it. */
const promtool = process.env.CI === 'true' || spawnSync('promtool', ['--version']).status === 0;
if (!promtool) process.stderr.write(`${ALERTS} is not checked with promtool: it is not installed\n`);

/**
 * Series of a problem, by the alert that they raise: `value+step x times`, a sample a minute, or every half an hour for the one that
 * takes three days.
 */
const PROBLEMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  VpsSlackDown: { 'up{job="vps-slack",instance="a"}': '0x60' },
  VpsSlackNotReady: { vps_ready: '0x60' },
  VpsSlackUnconfirmedOrder: { vps_operations_oldest_unconfirmed_seconds: '0+60x60' },
  VpsSlackJobsOverdue: { 'vps_jobs_due{kind="operation"}': '1x60' },
  VpsSlackJobsFailing: { 'vps_jobs_failing{kind="digest"}': '1x60' },
  VpsSlackHostingDown: {
    'vps_hosting_calls_total{outcome="ok"}': '0+4x60',
    'vps_hosting_calls_total{outcome="no_answer"}': '0+5x60',
  },
  VpsSlackHostingKeyRefused: { 'vps_hosting_calls_total{outcome="unauthorized"}': '_x55 1x5' },
  VpsSlackBalanceTooLow: { 'vps_hosting_calls_total{outcome="not_enough_balance"}': '_x55 1x5' },
  VpsSlackLimitReached: { vps_limiter_waiting: '3x60', vps_limiter_taken: '300x60' },
  VpsSlackSlowAcks: {
    'vps_slack_ack_seconds_bucket{le="2"}': '0+9x60',
    'vps_slack_ack_seconds_bucket{le="2.5"}': '0+10x60',
    'vps_slack_ack_seconds_bucket{le="+Inf"}': '0+10x60',
  },
  VpsSlackTokenRefused: { 'vps_slack_calls_total{outcome="token_revoked"}': '_x55 1x5' },
  VpsSlackCallsRefused: {
    'vps_slack_calls_total{outcome="ok"}': '0+6x60',
    'vps_slack_calls_total{outcome="missing_scope"}': '0+3x60',
  },
  VpsSlackPasswordsUnsaved: { vps_passwords_unsaved: '1x150' },
  VpsSlackDeniedTries: { vps_denied_total: '0+1x60' },
};
const HEALTHY = {
  'up{job="vps-slack",instance="a"}': '1x60',
  vps_ready: '1x60',
  vps_operations_oldest_unconfirmed_seconds: '600x60',
  'vps_jobs_due{kind="operation"}': '1 0x60',
  'vps_jobs_failing{kind="digest"}': '0x10 1x5 0x60',
  'vps_hosting_calls_total{outcome="ok"}': '0+5x60',
  'vps_hosting_calls_total{outcome="no_answer"}': '1x60',
  vps_limiter_waiting: '1x60',
  vps_limiter_taken: '20x60',
  'vps_slack_ack_seconds_bucket{le="2"}': '0+10x60',
  'vps_slack_ack_seconds_bucket{le="+Inf"}': '0+10x60',
  'vps_slack_calls_total{outcome="ok"}': '0+10x60',
  vps_passwords_unsaved: '1x60',
  vps_denied_total: '0x60',
};

describe.skipIf(!promtool)('the alert rules, by promtool,', () => {
  const run = (command: string, file: string, content: unknown) => {
    const path = join(makeFolder(), file);
    writeFileSync(path, typeof content === 'string' ? content : stringify(content));
    const { status, stdout, stderr } = spawnSync('promtool', [...command.split(' '), path], {
      encoding: 'utf8',
    });
    return { status, words: status === 0 ? '' : stdout + stderr };
  };

  test('are valid, and so are the expressions of the dashboard', () => {
    const recorded = expressions.map(({ expr }, at) => ({ record: `vps:${at}`, expr }));
    expect(run('check rules', 'alerts.yml', readFileSync(ALERTS, 'utf8'))).toEqual({ status: 0, words: '' });
    const content = { groups: [{ name: 'all', rules: recorded }] };
    expect(run('check rules', 'dashboard.yml', content)).toEqual({ status: 0, words: '' });
  });

  test('are raised by the problems that they name, and none of them where all is well', () => {
    expect(Object.keys(PROBLEMS)).toEqual(rules.map(({ alert }) => alert));
    const story = (
      interval: string,
      at: string,
      series: Readonly<Record<string, string>>,
      raised: string[],
    ) => ({
      interval,
      input_series: Object.entries({ 'up{job="vps-slack"}': '1x150', ...series }).map(([name, values]) => ({
        series: name,
        values,
      })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: at,
          exp_samples: raised.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
        },
      ],
    });
    const { VpsSlackPasswordsUnsaved: takesDays = {}, ...problems } = PROBLEMS;
    // At once: each story by itself takes promtool a fifth of a second.
    const atOnce = Object.assign({}, ...Object.values(problems));
    const files = [
      ['1m', [story('1m', '59m', atOnce, Object.keys(problems)), story('1m', '59m', HEALTHY, [])]],
      ['30m', [story('30m', '74h', takesDays, ['VpsSlackPasswordsUnsaved'])]],
    ];
    for (const [interval, tests] of files) {
      const content = { rule_files: [resolve(ALERTS)], evaluation_interval: interval, tests };
      expect(run('test rules', 'tests.yml', content)).toEqual({ status: 0, words: '' });
    }
  });
});
