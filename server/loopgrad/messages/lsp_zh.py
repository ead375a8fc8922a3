"""语言服务器的文字：简体中文。"""

MESSAGES = {
    # Diagnostics
    "lsp.hint": "此处抛出异常；原因在第 {line} 行",
    "lsp.hint-iteration": "此处在第 {iteration} 次迭代抛出异常；原因在第 {line} 行",
    "lsp.hint-elsewhere": "此处抛出异常；原因在 {file} 第 {line} 行",
    "lsp.hint-iteration-elsewhere": "此处在第 {iteration} 次迭代抛出异常；原因在 {file} 第 {line} 行",
    "lsp.syntax": "当前内容未被分析：{reason}",
    # Code actions
    "lsp.fix-all": "修复 Loopgrad 能安全修复的所有问题",
    "lsp.explain": "解释 {code}",
    "lsp.modified": "文档在此期间已更改；请重新请求修复",
    "lsp.confirm": "在设备上确认",
    # Hovers
    "lsp.line": "第 {line} 行",
    "lsp.hover-no-rule": "Loopgrad 没有规则 {code}",
    "lsp.hover-carries": "`{name}` 带有在第 {line} 行建立的计算图。",
    "lsp.hover-carries-iteration": "`{name}` 带有在第 {line} 行、第 {iteration} 次迭代建立的计算图。",
    # What a variable holds
    "lsp.held.none": "`{name}` 不带计算图。",
    "lsp.held.cut": "`{name}` 不带计算图：它在{where}被切断。",
    "lsp.held.leaf": "`{name}` 是需要梯度的叶子张量：计算图到此为止，它自身不带计算图。",
    "lsp.held.graph": "`{name}` 带有计算图，建立于{built}。",
    "lsp.held.guess": "`{name}` 可能带有计算图，建立于{built}。",
    "lsp.held.back": "它一直追溯到{back}。",
    "lsp.held.freed": "{freed}的反向传播已将其释放。",
    "lsp.held.freed-in-part": "{freed}的反向传播已释放其中那一部分。",
    "lsp.held.and": "{first}{second}",
    "lsp.held.in": "第 {iteration} 次迭代：{text}",
    "lsp.held.range": "第 {first} 至 {last} 次迭代：{text}",
    "lsp.held.from": "从第 {iteration} 次迭代起：{text}",
    "lsp.held.called": "从{where}调用时：{text}",
    "lsp.held.also": "其他时候：{text}",
    "lsp.held.when.same": "同一次迭代的{where}",
    "lsp.held.when.previous": "上一次迭代的{where}",
    "lsp.held.when.iteration": "第 {iteration} 次迭代的{where}",
    "lsp.held.when.before-loop": "循环之前的{where}",
    "lsp.held.somewhere": "视野之外的位置",
    # Commands
    "lsp.checking-workspace": "Loopgrad：正在检查工作区",
    "lsp.progress": "{done} / {total} 个文件",
    "lsp.not-open": "{uri} 没有打开",
    "lsp.traceback-none": "这段文字中没有回溯信息",
    "lsp.traceback-no-file": "回溯信息中的文件都不在此工作区",
    "lsp.traceback-no-finding": "异常在此处抛出；Loopgrad 在此文件中没有找到能解释它的问题",
    "lsp.traceback-found": "原因是第 {line} 行的 {code}",
    # The log
    "lsp.failed": "Loopgrad 自身出错，请报告此问题：{reason}",
    "lsp.not-analysed": "无法分析 {path}：{reason}",
    "lsp.partial": "{path}:{line}：只分析了一部分：{reason}",
    "lsp.problem": "{path}:{line}：{reason}",
}
