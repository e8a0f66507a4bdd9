import { spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFileSync, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

const COMMAND = []
const SPOOL = ""
const LARGEST_SPOOL = 1024 * 1024
const LONGEST_WAIT = 3000
const HARVEST_EVERY = 10 * 60 * 1000

// The request for a session's title, which opencode hands to the same hook.
const TITLE = /^You are a title generator/

const line = (event) => [...COMMAND.slice(1), event, "--agent", "opencode"]

// What went wrong is kept for `hardwon doctor`; the session hears nothing of it.
function complain(event, began, problem) {
  try {
    if ((statSync(SPOOL, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_SPOOL) return
    try { mkdirSync(dirname(SPOOL), { mode: 0o700 }) } catch {}
    const at = Date.now() * 1000
    const run = { id: randomBytes(12).toString("hex"), at, event, agent: "opencode", microseconds: at - began * 1000 }
    appendFileSync(SPOOL, `\n${JSON.stringify({ ...run, error: `plugin: ${problem}`.slice(0, 500) })}\n`, { mode: 0o600 })
  } catch {}
}

// What Hardwon has to say, or nothing: whatever goes wrong, the session goes on.
function ask(event, payload) {
  const began = Date.now()
  return new Promise((resolve) => {
    let failed = false
    const fail = (problem) => {
      if (!failed) complain(event, began, problem)
      failed = true
      resolve("")
    }
    try {
      let said = ""
      const child = spawn(COMMAND[0], line(event), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const timer = setTimeout(() => { fail(`no answer in ${LONGEST_WAIT} ms`); child.kill() }, LONGEST_WAIT)
      child.stdout.on("data", (part) => { said += part })
      child.on("error", (error) => { clearTimeout(timer); fail(error.message) })
      child.on("close", (code) => {
        clearTimeout(timer)
        if (code) return fail(`the hook ended with ${code}`)
        if (!said) return resolve("")
        try { resolve(String(JSON.parse(said).context ?? "")) } catch (error) { fail(error.message) }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ agent: "opencode", ...payload }))
    } catch (error) { fail(error.message) }
  })
}

// The sessions of one opencode: each is briefed once, with the same text in every request; sub-agents are not.
class Sessions {
  briefings = new Map()
  reminders = new Map()
  children = new Set()
  harvested = Date.now()

  briefing(session_id, cwd) {
    if (!session_id || this.children.has(session_id)) return Promise.resolve("")
    if (!this.briefings.has(session_id))
      this.briefings.set(session_id, ask("session-start", { session_id, cwd, source: "startup" }))
    return this.briefings.get(session_id)
  }

  failed(session_id, cwd, tool_use_id, error) {
    return ask("tool-failed", { session_id, cwd, tool_use_id, error })
  }

  idle(cwd) {
    if (Date.now() - this.harvested < HARVEST_EVERY) return
    this.harvested = Date.now()
    return ask("session-end", { cwd })
  }

  end(cwd) {
    const began = Date.now()
    try {
      const input = JSON.stringify({ agent: "opencode", cwd })
      const stdio = ["pipe", "ignore", "ignore"]
      const done = spawnSync(COMMAND[0], line("session-end"), { input, stdio, timeout: 1500, windowsHide: true })
      if (done.error) complain("session-end", began, done.error.message)
    } catch (error) { complain("session-end", began, error.message) }
  }
}

const is_typed = (part) => part.type === "text" && !part.synthetic
const typed = (parts) => parts.filter(is_typed).map((part) => part.text).join("\n")
const part_id = () => `prt_${Date.now().toString(16)}${Math.random().toString(36).slice(2, 14)}`

// opencode 1
async function server({ directory }) {
  const cwd = directory ?? process.cwd()
  const sessions = new Sessions()
  return {
    "experimental.chat.system.transform": async (input, output) => {
      if (TITLE.test(output.system[0] ?? "")) return
      const text = await sessions.briefing(input?.sessionID, cwd)
      if (text) output.system.push(text)
    },
    "chat.message": async (input, output) => {
      if (sessions.children.has(input.sessionID)) return
      const text = await ask("prompt", { session_id: input.sessionID, cwd, prompt: typed(output.parts ?? []) })
      if (!text) return
      const { id: messageID, sessionID } = output.message
      output.parts.push({ id: part_id(), sessionID, messageID, type: "text", text, synthetic: true })
    },
    "tool.execute.after": async (input, output) => {
      const code = output?.metadata?.exit
      if (typeof code !== "number" || code === 0 || typeof output.output !== "string") return
      const text = await sessions.failed(input.sessionID, cwd, input.callID, output.output)
      if (text) output.output += `\n\n${text}`
    },
    event: async ({ event }) => {
      if (event?.type === "session.created" && event.properties?.info?.parentID)
        sessions.children.add(event.properties.info.id)
      if (event?.type === "session.idle") await sessions.idle(cwd)
    },
    dispose: async () => sessions.end(cwd),
  }
}

// opencode 2
async function setup(ctx) {
  const sessions = new Sessions()
  const folders = new Map()
  const folder = async (sessionID) => {
    if (!folders.has(sessionID)) {
      let info = {}
      try { info = (await ctx.session.get({ sessionID })) ?? {} } catch {}
      if (info.parentID) sessions.children.add(sessionID)
      folders.set(sessionID, info.location?.directory ?? info.directory ?? process.cwd())
    }
    return folders.get(sessionID)
  }
  await ctx.session.hook("prompt", async (event) => {
    const cwd = await folder(event.sessionID)
    if (sessions.children.has(event.sessionID)) return
    const text = await ask("prompt", { session_id: event.sessionID, cwd, prompt: String(event.prompt?.text ?? "") })
    if (text) sessions.reminders.set(event.sessionID, [...(sessions.reminders.get(event.sessionID) ?? []), text])
  })
  await ctx.session.hook("context", async (event) => {
    if (event.kind && event.kind !== "primary") return
    const briefing = await sessions.briefing(event.sessionID, await folder(event.sessionID))
    for (const text of [briefing, ...(sessions.reminders.get(event.sessionID) ?? [])])
      if (text) event.system.push({ type: "text", text })
  })
  await ctx.tool.hook("execute.after", async (event) => {
    const content = event.result?.content
    const output = typeof content === "string" ? content : Array.isArray(content) ? typed(content) : ""
    const code = event.result?.metadata?.exit ?? event.result?.metadata?.exitCode
    if (event.status !== "completed" || typeof code !== "number" || code === 0 || !output) return
    const text = await sessions.failed(event.sessionID, await folder(event.sessionID), event.id, output)
    if (!text) return
    event.result = {
      ...event.result,
      content: typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text", text }],
    }
  })
  return () => sessions.end(process.cwd())
}

export default { id: "hardwon", server, setup }
