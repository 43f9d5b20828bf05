import { parseArgs } from 'node:util';
import { EVERY_WORKSPACE } from '../app/account/every-workspace.ts';
import { listConnectedWorkspaces } from '../app/account/list-workspaces.ts';
import { parseKeyConfig } from '../config.ts';
import { commandLineOf } from '../domain/actor.ts';
import type { WorkspaceId } from '../domain/ids.ts';
import { POWER_ACTIONS } from '../domain/server.ts';
import { type ProgramApp, withApp } from './open-app.ts';
import { ProgramEnd, parseOrExplain, parseWorkspaceId, runProgram, UsageError } from './program.ts';
import { findSystemUser } from './system-user.ts';
import { explain } from './vps-words.ts';
import { changeOne, list, show, type VpsOptions } from './vps-work.ts';

const USAGE = `Usage, when Slack is down:
  npm run -s vps -- list [filter]     lists the servers
  npm run -s vps -- show <server>     shows one, by label, ID or IPv4 address
  npm run -s vps -- start|stop|reboot <server>
      asks, sends it, and follows the server for up to two minutes
      [--yes]    doesn't ask; needs the whole label   [--again]  even if it was rebooted a moment ago
  [--workspace T…]  needed if several workspaces have an API key   [--json]  for other programs
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 unconfirmed.`;

type Work = (app: ProgramApp, options: VpsOptions) => Promise<void>;

/** Lists, shows and switches servers without Slack. The app may be running at the same time. */
async function main(): Promise<void> {
  const { work, workspaceId, ...options } = parseCommand();
  const run = async (app: ProgramApp) => {
    try {
      await work(app, { ...options, workspaceId: workspaceId ?? (await findOnlyWorkspace(app)) });
    } catch (error) {
      const words = explain(error);
      throw words === undefined ? error : new ProgramEnd(words, 1);
    }
  };
  await withApp(parseKeyConfig(process.env), run, commandLineOf(findSystemUser(process.env)));
}

/** @throws UsageError */
function parseCommand() {
  const { values, positionals } = parseOrExplain(
    () =>
      parseArgs({
        options: {
          workspace: { type: 'string' },
          json: { type: 'boolean', default: false },
          yes: { type: 'boolean', default: false },
          again: { type: 'boolean', default: false },
        },
        allowPositionals: true,
      }),
    USAGE,
  );
  const { workspace, json: isJson, yes: isYes, again: isAgain } = values;
  const [command = ''] = positionals;
  // Before anything is opened: in a script, no one would answer.
  if (POWER_ACTIONS.some((each) => each === command) && !isYes && !process.stdin.isTTY)
    throw new UsageError(`There's no terminal to ask on. Add --yes to ${command} without a question.`, USAGE);
  return {
    work: parseWork(positionals),
    workspaceId: workspace === undefined ? undefined : parseWorkspaceId(workspace, USAGE),
    isJson,
    isYes,
    isAgain,
  };
}

/** @throws UsageError */
function parseWork([command, name = '', ...rest]: readonly string[]): Work {
  if (rest.length > 0)
    throw new UsageError(
      `Unexpected argument: ${rest.join(' ')}. Put a label with spaces into quotes.`,
      USAGE,
    );
  if (command === undefined) throw new UsageError('Choose list, show, start, stop or reboot.', USAGE);
  if (command === 'list') return (app, options) => list(app, name, options);
  const action = POWER_ACTIONS.find((each) => each === command);
  if (command !== 'show' && action === undefined)
    throw new UsageError(`There's no command "${command}". Choose list, show, start, stop or reboot.`, USAGE);
  if (name.trim() === '')
    throw new UsageError(`Which server? Add its label, ID or IPv4 address to ${command}.`, USAGE);
  return (app, options) => (action ? changeOne(app, action, name, options) : show(app, name, options));
}

/** @throws UsageError when there are several */
async function findOnlyWorkspace(app: ProgramApp): Promise<WorkspaceId> {
  const [only, ...others] = await app.execute(listConnectedWorkspaces, {}, EVERY_WORKSPACE);
  if (only === undefined)
    throw new ProgramEnd('No workspace has an API key. Set one with: npm run key -- set --workspace T…', 1);
  if (others.length === 0) return only;
  throw new UsageError(`Which workspace? Add --workspace and one of ${[only, ...others].join(', ')}.`, USAGE);
}

runProgram(main, 2);
