"""规则及其修复的简体中文文字。"""

MESSAGES = {
    # Lists of names
    "names.one": "'{a}'",
    "names.two": "'{a}' 和 '{b}'",
    "names.three": "'{a}'、'{b}' 和 '{c}'",
    "names.more": "'{a}'、'{b}' 和另外 {count} 个",
    # Places
    "line.line": "第 {line} 行",
    "line.cell": "单元格 {cell} 第 {line} 行",
    "line.file": "{file} 的{where}",
    # What changes a tensor in place
    "change.step": "优化器的 step()",
    "change.load_state_dict": "load_state_dict()",
    "change.setitem": "对其中一部分的赋值",
    "change.init": "初始化",
    "change.vector_to_parameters": "vector_to_parameters()",
    "change.call": "{what}()",
    "change.other": "就地操作",
    # What takes a graph away
    "cut.detach": "这个 detach()",
    "cut.no_grad": "这个 no_grad 块",
    "cut.item": "用 item() 把张量变成数字",
    "cut.op": "没有梯度的 {what}()",
    "cut.numpy": "经过 numpy 的转换",
    "cut.tensor": "用 {what}() 新建张量",
    "cut.other": "这条语句",
    # LG101
    "LG101.second-backward.one": (
        "{names} 把第 {then} 次迭代的计算图带入第 {now} 次迭代，后者的 backward() 会走到已被先前 backward() 释放的部分。"
    ),
    "LG101.second-backward.many": (
        "{names} 把第 {then} 次迭代的计算图带入第 {now} 次迭代，后者的 backward() 会走到已被先前 backward() 释放的部分。"
    ),
    "LG101.second-backward.none": (
        "第 {then} 次迭代在这里建立的计算图已被先前的 backward() 释放，又被第 {now} 次迭代的 backward() 到达。"
    ),
    "LG101.second-backward.calls.one": (
        "{names} 把一次调用的计算图带入下一次调用，后者的 backward() 会走到已被释放的部分。"
    ),
    "LG101.second-backward.calls.many": (
        "{names} 把一次调用的计算图带入下一次调用，后者的 backward() 会走到已被释放的部分。"
    ),
    "LG101.second-backward.calls.none": (
        "一次调用在这里建立的计算图已被释放，又被下一次调用的 backward() 到达。"
    ),
    "LG101.silent.one": (
        "{names} 把第 {then} 次迭代的计算图带入第 {now} 次迭代，后者的 backward() 会遍历至今的所有迭代："
        "不会抛出异常，但梯度是错的，而且每一步都越来越慢。"
    ),
    "LG101.silent.many": (
        "{names} 把第 {then} 次迭代的计算图带入第 {now} 次迭代，后者的 backward() 会遍历至今的所有迭代："
        "不会抛出异常，但梯度是错的，而且每一步都越来越慢。"
    ),
    "LG101.silent.none": (
        "第 {then} 次迭代在这里建立的计算图又被第 {now} 次迭代的 backward() 遍历："
        "不会抛出异常，但梯度是错的，而且每一步都越来越慢。"
    ),
    "LG101.silent.calls.one": (
        "{names} 把一次调用的计算图带入下一次调用，后者的 backward() 会遍历至今的所有调用："
        "不会抛出异常，但梯度是错的，而且每一步都越来越慢。"
    ),
    "LG101.silent.calls.many": (
        "{names} 把一次调用的计算图带入下一次调用，后者的 backward() 会遍历至今的所有调用："
        "不会抛出异常，但梯度是错的，而且每一步都越来越慢。"
    ),
    "LG101.silent.calls.none": (
        "一次调用在这里建立的计算图又被下一次调用的 backward() 遍历："
        "不会抛出异常，但梯度是错的，而且每一步都越来越慢。"
    ),
    # LG102
    "LG102.second-backward.one": (
        "{names} 只在{loop}的循环之外计算一次，但每次迭代的 backward() 都要遍历它的计算图，而第一次就把它释放了。"
    ),
    "LG102.second-backward.many": (
        "{names} 只在{loop}的循环之外计算一次，但每次迭代的 backward() 都要遍历它们的计算图，而第一次就把它释放了。"
    ),
    "LG102.second-backward.none": (
        "这里只在{loop}的循环之外计算一次，但每次迭代的 backward() 都要遍历它的计算图，而第一次就把它释放了。"
    ),
    "LG102.second-backward.calls.one": (
        "{names} 只计算一次，但每次调用的 backward() 都要遍历它的计算图，而第一次就把它释放了。"
    ),
    "LG102.second-backward.calls.many": (
        "{names} 只计算一次，但每次调用的 backward() 都要遍历它们的计算图，而第一次就把它释放了。"
    ),
    "LG102.second-backward.calls.none": (
        "这里只计算一次，但每次调用的 backward() 都要遍历它的计算图，而第一次就把它释放了。"
    ),
    "LG102.silent.one": (
        "{names} 只在{loop}的循环之外计算一次：不会抛出异常，但损失看不到优化器对其背后参数的任何更新。"
    ),
    "LG102.silent.many": (
        "{names} 只在{loop}的循环之外计算一次：不会抛出异常，但损失看不到优化器对其背后参数的任何更新。"
    ),
    "LG102.silent.none": (
        "这里只在{loop}的循环之外计算一次：不会抛出异常，但损失看不到优化器对其背后参数的任何更新。"
    ),
    "LG102.silent.calls.one": (
        "{names} 只计算一次，而不是每次调用都计算：不会抛出异常，但损失看不到优化器对其背后参数的任何更新。"
    ),
    "LG102.silent.calls.many": (
        "{names} 只计算一次，而不是每次调用都计算：不会抛出异常，但损失看不到优化器对其背后参数的任何更新。"
    ),
    "LG102.silent.calls.none": (
        "这里只计算一次，而不是每次调用都计算：不会抛出异常，但损失看不到优化器对其背后参数的任何更新。"
    ),
    "LG102.eval": "{said}eval() 不会停止记录计算图，torch.no_grad() 才会。",
    # LG103
    "LG103.two.one": (
        "{names} 同属两个损失：{first}的 backward() 释放了它的计算图，{second}的 backward() 又去遍历它。"
    ),
    "LG103.two.many": (
        "{names} 同属两个损失：{first}的 backward() 释放了它们的计算图，{second}的 backward() 又去遍历它。"
    ),
    "LG103.two.none": (
        "这里用到的值同属两个损失：{first}的 backward() 释放了它的计算图，{second}的 backward() 又去遍历它。"
    ),
    "LG103.same-line.one": ("{names} 同属多个损失：第一次 backward() 释放了它的计算图，下一次又去遍历它。"),
    "LG103.same-line.many": (
        "{names} 同属多个损失：第一次 backward() 释放了它们的计算图，下一次又去遍历它。"
    ),
    "LG103.same-line.none": (
        "这里用到的值同属多个损失：第一次 backward() 释放了它的计算图，下一次又去遍历它。"
    ),
    "LG103.again.one": "对 {names} 第二次调用 backward()，而它的计算图已被第一次调用释放。",
    "LG103.again.many": "对 {names} 第二次调用 backward()，而它们的计算图已被第一次调用释放。",
    "LG103.again.none": "对同一计算图第二次调用 backward()，而它已被第一次调用释放。",
    # LG104
    "LG104.carried.one": (
        "{names} 把计算图带入第 {now} 次迭代，后者的 backward() 需要的值已被{line}的{what}就地修改。"
    ),
    "LG104.carried.many": (
        "{names} 把计算图带入第 {now} 次迭代，后者的 backward() 需要的值已被{line}的{what}就地修改。"
    ),
    "LG104.carried.none": (
        "这里建立的计算图在第 {now} 次迭代被 backward() 遍历，而它需要的值已被{line}的{what}就地修改。"
    ),
    "LG104.carried.somewhere.one": (
        "{names} 把计算图带入第 {now} 次迭代，后者的 backward() 需要的值此后已被就地修改。"
    ),
    "LG104.carried.somewhere.many": (
        "{names} 把计算图带入第 {now} 次迭代，后者的 backward() 需要的值此后已被就地修改。"
    ),
    "LG104.carried.somewhere.none": (
        "这里建立的计算图在第 {now} 次迭代被 backward() 遍历，而它需要的值此后已被就地修改。"
    ),
    "LG104.outside.one": (
        "{names} 只计算一次，但每次迭代的 backward() 都需要其计算图中的值，而{line}的{what}会就地修改它们。"
    ),
    "LG104.outside.many": (
        "{names} 只计算一次，但每次迭代的 backward() 都需要其计算图中的值，而{line}的{what}会就地修改它们。"
    ),
    "LG104.outside.none": (
        "这里只计算一次，但每次迭代的 backward() 都需要其计算图中的值，而{line}的{what}会就地修改它们。"
    ),
    "LG104.outside.somewhere.one": (
        "{names} 只计算一次，但每次迭代的 backward() 都需要其计算图中的值，而这些值在其间被就地修改。"
    ),
    "LG104.outside.somewhere.many": (
        "{names} 只计算一次，但每次迭代的 backward() 都需要其计算图中的值，而这些值在其间被就地修改。"
    ),
    "LG104.outside.somewhere.none": (
        "这里只计算一次，但每次迭代的 backward() 都需要其计算图中的值，而这些值在其间被就地修改。"
    ),
    "LG104.within.one": ("{names} 所依据的值在需要它们的 backward() 之前被{line}的{what}就地修改。"),
    "LG104.within.many": ("{names} 所依据的值在需要它们的 backward() 之前被{line}的{what}就地修改。"),
    "LG104.within.none": ("这里建立的计算图的 backward() 所需的值在此之前被{line}的{what}就地修改。"),
    "LG104.within.somewhere.one": "{names} 所依据的值在需要它们的 backward() 之前被就地修改。",
    "LG104.within.somewhere.many": "{names} 所依据的值在需要它们的 backward() 之前被就地修改。",
    "LG104.within.somewhere.none": "这里建立的计算图的 backward() 所需的值在此之前被就地修改。",
    # Growth
    "weight.nodes": ("这些计算图已有 backward() 走过，所以只留下节点：内存占用很小，但每次迭代都会增加。"),
    "weight.activations": "没有 backward() 走过它们，所以全部激活值都留着，直到内存耗尽。",
    "weight.retained": "retain_graph=True 使它们保存的一切都留着，直到内存耗尽。",
    "LG201.grows.one": "{names} 使每次迭代的计算图一直存活。{weight}",
    "LG201.grows.many": "{names} 使每次迭代的计算图一直存活。{weight}",
    "LG201.grows.none": "这里存放的值使每次迭代的计算图一直存活。{weight}",
    "LG201.circle": (
        "create_graph=True 使每次迭代所建张量的梯度带有计算图，而该图又指回这个张量。"
        "在把梯度设为 None 之前，两者互相保持存活。{weight}"
    ),
    "LG201.gradient": (
        "create_graph=True 使梯度本身带有计算图；它们被累加到以前各次迭代的梯度上，那些计算图一直存活。{weight}"
    ),
    "LG203.grows.one": ("{names} 使每次迭代的计算图连同全部激活值一直存活：没有 backward() 会释放它们。"),
    "LG203.grows.many": ("{names} 使每次迭代的计算图连同全部激活值一直存活：没有 backward() 会释放它们。"),
    "LG203.grows.none": (
        "这里存放的值使每次迭代的计算图连同全部激活值一直存活：没有 backward() 会释放它们。"
    ),
    "LG203.eval": "{said}eval() 不会停止记录计算图，torch.no_grad() 才会。",
    "LG204.records": (
        "这次评估记录了没有任何用处的计算图：计算一个批次时，它的全部激活值都要保留。torch.no_grad() 可以省去这些。"
    ),
    # LG202
    "LG202.unneeded": "这次 backward() 之后没有任何代码需要计算图：retain_graph=True 只是让它在内存中多留一阵。",
    "LG202.hides": (
        "retain_graph=True 掩盖了一个问题：每次迭代的 backward() 都在遍历先前迭代或循环之外建立的计算图。"
    ),
    "LG205.rerun": "第二次运行此单元格会抛出异常：第一次运行释放了由先前单元格建立的计算图。",
    # LG301
    "LG301.detach": "这个 detach() 使损失没有计算图，因此{raised}的 backward() 会抛出异常。",
    "LG301.no_grad": "这里的 no_grad 使损失没有计算图，因此{raised}的 backward() 会抛出异常。",
    "LG301.item": "item() 把张量变成数字：损失没有计算图，{raised}的 backward() 会抛出异常。",
    "LG301.op": (
        "{what}() 没有梯度：损失没有计算图，{raised}的 backward() 会抛出异常。损失需要它的平滑形式。"
    ),
    "LG301.numpy": "经过 numpy 使损失没有计算图，因此{raised}的 backward() 会抛出异常。",
    "LG301.tensor": "{what}() 新建的张量没有计算图，因此{raised}的 backward() 会抛出异常。",
    "LG301.frozen": "损失所依据的值在这里都不需要梯度，因此{raised}的 backward() 会抛出异常。",
    "LG301.unknown": "损失没有计算图，因此这次 backward() 会抛出异常。",
    # LG302 to LG304
    "LG302.optimizer": "没有 backward() 能到达优化器的任何参数：它们与损失之间隔着{what}。",
    "LG302.group": "没有 backward() 能到达优化器某一参数组的任何参数：它们与损失之间隔着{what}。",
    "LG303.leaf.one": "{names} 是需要梯度的叶子张量；在 torch.no_grad() 之外就地修改它会抛出异常。",
    "LG303.leaf.many": "{names} 是需要梯度的叶子张量；在 torch.no_grad() 之外就地修改它们会抛出异常。",
    "LG303.leaf.none": "这里就地修改了需要梯度的叶子张量，在 torch.no_grad() 之外会抛出异常。",
    "LG304.leaf.one": "{names} 失去了计算图，又在这里被设为叶子：backward() 不再抛出异常，但没有任何参数得到梯度。",
    "LG304.leaf.many": "{names} 失去了计算图，又在这里被设为叶子：backward() 不再抛出异常，但没有任何参数得到梯度。",
    "LG304.leaf.none": "损失失去了计算图，又在这里被设为叶子：backward() 不再抛出异常，但没有任何参数得到梯度。",
    # LG401, LG402
    "LG401.stray.one": "{names} 要求计算梯度，但无人读取，也没有优化器使用它。",
    "LG401.stray.many": "{names} 要求计算梯度，但无人读取，也没有优化器使用它们。",
    "LG401.stray.none": "这里要求计算梯度，但无人读取，也没有优化器使用它。",
    "LG401.has-graph.one": "{names} 已有计算图：requires_grad_() 在这里什么也不改变。",
    "LG401.has-graph.many": "{names} 已有计算图：requires_grad_() 在这里什么也不改变。",
    "LG401.has-graph.none": "这个值已有计算图：requires_grad_() 在这里什么也不改变。",
    "LG402.keeps.one": "detach() 的结果被丢弃：{names} 仍带着计算图。",
    "LG402.keeps.many": "detach() 的结果被丢弃：{names} 仍带着计算图。",
    "LG402.keeps.none": "detach() 的结果被丢弃：该张量仍带着计算图。",
    "LG402.nothing.one": "detach() 的结果被丢弃：这条语句对 {names} 不起作用。",
    "LG402.nothing.many": "detach() 的结果被丢弃：这条语句对 {names} 不起作用。",
    "LG402.nothing.none": "detach() 的结果被丢弃：这条语句不起作用。",
    # The story
    "trace.built": "这里建立了后来再次到达的那部分计算图",
    "trace.built-outside": "计算图在这里建立，只有一次",
    "trace.built-each": "每次迭代都在这里建立计算图",
    "trace.freed": "这次 backward() 释放了计算图保存的内容",
    "trace.carried": "'{name}' 把计算图带了过去",
    "trace.carried-layer": "该层保留着 '{name}'，在该层被重置或分离之前，它一直带着计算图",
    "trace.reached": "这次 backward() 走到已释放的部分，抛出异常",
    "trace.reached-changed": "这次 backward() 需要修改之前的值，抛出异常",
    "trace.reached-silently": "这次 backward() 又遍历了旧的部分",
    "trace.stored": "'{name}' 保留着计算图",
    "trace.kept": "'{name}' 使它一直存活",
    "trace.used-again": "这里把它带入第二个计算图",
    "trace.retained": "retain_graph=True 保留了计算图",
    "trace.retained-unneeded": "retain_graph=True 在这次 backward() 之后仍保留计算图",
    "trace.modified": "{what}就地修改了计算图所保存的值",
    "trace.cut-detach": "计算图到 detach() 为止",
    "trace.cut-no_grad": "在 no_grad 下不记录计算图",
    "trace.cut-item": "item() 得到的是数字，没有计算图",
    "trace.cut-op": "{what}() 没有梯度：计算图到此为止",
    "trace.cut-numpy": "numpy 没有计算图",
    "trace.cut-tensor": "{what}() 新建的张量没有计算图",
    "trace.cut-frozen": "这里没有任何值需要梯度",
    "trace.no-graph": "这次 backward() 找不到计算图，抛出异常",
    "trace.leaf-made": "叶子在这里产生",
    "trace.leaf-modified": "{what}就地修改它，抛出异常",
    "trace.made-leaf": "这里把它设为叶子",
    "trace.leaf-backward": "这次 backward() 到叶子为止",
    "trace.optimizer": "优化器更新的参数没有 backward() 能到达",
    "trace.stray": "这里要求计算梯度",
    "trace.role.built": "计算图在这里建立",
    "trace.role.freed": "计算图在这里被释放",
    "trace.role.carried": "计算图从这里被带走",
    "trace.role.reached": "计算图在这里被到达",
    "trace.role.modified": "有值在这里被就地修改",
    "trace.role.retained": "计算图在这里被保留",
    "trace.role.cut": "计算图在这里被切断",
    "trace.role.stored": "计算图存放在这里",
    # What was analysed in part
    "partial.steps": "分析到此为止：程序需要跟踪的步骤太多",
    "partial.depth": "这里的调用嵌套太深，无法跟踪",
    "partial.import": "有一处导入无法跟踪",
    "partial.other": "分析到此为止",
    # Fixes
    "fix.suppress": "在第 {line} 行屏蔽 {code}",
    "fix.stops-training": "{title}；此后 {names} 不再得到训练",
    "fix.this": "这个值",
    "fix.detach.store": "在存放处对 {names} 调用 detach()",
    "fix.detach.end": "在 backward() 之后对 {names} 调用 detach()",
    "fix.detach.end-again": "在 backward() 之后对 {names} 调用 detach()，并让它重新要求梯度",
    "fix.detach.own": "在计算新值时对旧的 {names} 调用 detach()",
    "fix.detach.start": "在下次使用之前对 {names} 调用 detach()",
    "fix.detach.use": "在使用旧值处对 {names} 调用 detach()",
    "fix.detach.store.none": "在存放处调用 detach()",
    "fix.detach.end.none": "在 backward() 之后调用 detach()",
    "fix.detach.own.none": "在计算新值时对旧值调用 detach()",
    "fix.detach.start.none": "在下次使用之前调用 detach()",
    "fix.detach.use.none": "在使用旧值处调用 detach()",
    "fix.detach.build": "在计算处调用 detach()",
    "fix.detach.argument": "在传递 {names} 处调用 detach()",
    "fix.detach.again": "在存放处对 {names} 调用 detach()，并让它重新要求梯度",
    "fix.detach.first-loss": "在第一个损失中对 {names} 调用 detach()",
    "fix.detach.second-loss": "在第二个损失中对 {names} 调用 detach()",
    "fix.detach.truncates": "{title}（这会截断沿时间的反向传播）",
    "fix.item.store": "用 item() 把 {names} 存成数字（这会等待 GPU 完成）",
    "fix.no_grad.store": "在 torch.no_grad() 下计算 {names}",
    "fix.no_grad.build": "在 torch.no_grad() 下计算 {names}",
    "fix.no_grad.function": "在 torch.no_grad() 下运行 '{name}'",
    "fix.no_grad.loop": "在 torch.no_grad() 下运行整个循环",
    "fix.no_grad.statement": "把{line}的计算放到 torch.no_grad() 下",
    "fix.no_grad.change": "在 torch.no_grad() 下修改",
    "fix.move-into-loop": "在循环的每次迭代中计算 {names}",
    "fix.recompute.property": "每次读取时计算 {names}",
    "fix.recompute.uncached": "每次读取时计算，不用缓存",
    "fix.recompute.again": "在第 {line} 行的 step() 之后，用更新后的权重重新计算 {names}",
    "fix.sum-losses": "只对 '{first}' 与 '{second}' 之和调用一次 backward()",
    "fix.sum-losses.loop": "对循环中各 '{loss}' 之和只调用一次 backward()",
    "fix.reorder.freeze": "在换上新部分之前冻结，使新部分得到训练",
    "fix.reorder.build": "在第 {line} 行的 step() 之后，用更新后的权重计算 {names}",
    "fix.reorder.step": (
        "把 step() 移到第 {line} 行的 backward() 之后，使两个损失看到相同的权重（这一步会同时用到两者的梯度）"
    ),
    "fix.remove-retain-graph": "去掉 retain_graph=True",
    "fix.and-remove-retain-graph": "{title}，并去掉 retain_graph=True",
    "fix.out-of-place": "计算新的 {names}，而不是就地修改旧值",
    "fix.keep-graph.function": "用 torch.enable_grad() 在 '{function}' 中记录计算图",
    "fix.keep-graph.undecorate": "去掉 '{function}' 的装饰器 @{what}",
    "fix.keep-graph.retain": "用 retain_graph=True 为{line}的 backward() 保留计算图",
    "fix.detach.use-whole": "对 '{text}' 调用 detach()",
    "fix.recompute.second": "为第二个损失重新计算 {names}",
    "fix.reorder.group": "把第 {first} 行的 step() 移到第 {second} 行的 step() 之后",
    "fix.reorder.group-earlier": "把第 {first} 行的 step() 移到第 {second} 行的 step() 之前",
    "fix.keep-graph.call": "去掉 {what}()，使计算图延续",
    "fix.keep-graph.stack": "把各损失作为张量堆叠，使计算图延续",
    "fix.keep-graph.several": "去掉切断损失各部分的操作，使计算图延续",
    "fix.keep-graph.block": "去掉 no_grad 块，使计算图得到记录",
    "fix.keep-graph.enable": "用 torch.enable_grad() 在这里记录计算图",
    "fix.keep-graph.and-leaf": "{title}，并且不再把损失设为叶子",
    "fix.remove-requires-grad": "去掉 requires_grad",
    "fix.assign": "把结果赋给 '{name}'",
    "fix.remove-statement": "删除这条不起作用的语句",
}
