import { defineAccess } from './access/access.ts';
import { audit } from './account/audit.ts';
import { connect, disconnect } from './account/connect.ts';
import { settings } from './account/settings.ts';
import { status } from './account/status.ts';
import { defineHelp, getCommand } from './help.ts';
import type { Command } from './kit/command.ts';
import { splitSubcommand } from './kit/typed-words.ts';
import { catalog } from './purchases/catalog.ts';
import { costs } from './purchases/costs.ts';
import { create } from './purchases/create.ts';
import { password } from './purchases/password.ts';
import { renew } from './purchases/renew.ts';
import { reminders } from './reminders/reminders.ts';
import { remove } from './servers/delete.ts';
import { list } from './servers/list.ts';
import { note } from './servers/note.ts';
import { reboot, start, stop } from './servers/power.ts';
import { show } from './servers/show.ts';

import { workflow } from './workflows/workflow.ts';

/** Every subcommand of `/vps`, in the order in which help and the README list them. */
export const commands: readonly Command[] = [
  defineHelp(() => commands),
  list,
  show,
  catalog,
  start,
  stop,
  reboot,
  note,
  create,
  renew,
  reminders,
  remove,
  costs,
  password,
  connect,
  disconnect,
  defineAccess((text, request) => {
    const { name, rest } = splitSubcommand(text);
    return getCommand(name, commands).run(rest, request);
  }),
  settings,
  workflow,
  audit,
  status,
];
